/** The paths of all pages. The service answers a navigation to any of them with the client, and to no other path. */
export const paths = {
  home: '/',
  room: '/room',
  post: '/posts/{id}',
  table: '/table',
  account: '/account',
  signIn: '/sign-in',
  signUp: '/sign-up',
  chooseTeam: '/choose-team',
} as const;

export type RouteName = keyof typeof paths;

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

/** The parameters in the path of a page. */
export type Params<Name extends RouteName> = Record<Names<(typeof paths)[Name]>, string>;
