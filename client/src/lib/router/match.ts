import { paths, type Params, type RouteName } from './paths';

/** A page and the values of its parameters. */
export interface Match {
  name: RouteName;
  params: Record<string, string>;
}

function isRoute(name: string): name is RouteName {
  return name in paths;
}

const ROUTES = Object.keys(paths).filter(isRoute);

/** The page at a path; `null` if there is none. */
export function matchPath(path: string): Match | null {
  for (const name of ROUTES) {
    const params = parameters(paths[name], path);
    if (params) return { name, params };
  }
  return null;
}

function parameters(template: string, path: string): Record<string, string> | null {
  const [expected, given] = [template.split('/'), path.split('/')];
  if (expected.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [place, segment] of expected.entries()) {
    const value = given[place] ?? '';
    if (!segment.startsWith('{')) {
      if (segment !== value) return null;
    } else if (value === '') {
      return null;
    } else {
      params[segment.slice(1, -1)] = decoded(value);
    }
  }
  return params;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A path that no link of ours has: its text is shown as it is.
    return value;
  }
}

/** The address of a page. */
export function href<Name extends RouteName>(
  name: Name,
  params: Params<Name>,
  query: Record<string, string | null> = {},
): string {
  const values: Record<string, string> = params;
  const path = paths[name].replaceAll(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(values[key] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== null) search.set(key, value);
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}
