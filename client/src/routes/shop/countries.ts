import type { ShippingMethod } from '$lib/api/types';

/** Regions that browsers name by two letters, and that are not in ISO 3166-1: the service refuses them. */
const NO_COUNTRY = 'AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ'.split(' ');
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

export interface Country {
  key: string;
  label: string;
}

/** Every country that the browser can name. */
function all(names: Intl.DisplayNames): string[] {
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  return codes.filter(
    // A code that was replaced leads to another one.
    (code) =>
      names.of(code) !== undefined &&
      !NO_COUNTRY.includes(code) &&
      new Intl.Locale(`und-${code}`).region === code,
  );
}

/** The countries that any method reaches, by name. */
export function countriesOf(methods: readonly ShippingMethod[], language: string): Country[] {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
  const reachesAll = methods.some(({ countries }) => countries.length === 0);
  const codes = reachesAll ? all(names) : [...new Set(methods.flatMap(({ countries }) => countries))];
  const { compare } = new Intl.Collator(language);
  return codes
    .map((key) => ({ key, label: names.of(key) ?? key }))
    .sort((one, other) => compare(one.label, other.label));
}

/** The methods that reach a country. */
export function methodsTo(country: string, methods: readonly ShippingMethod[]): ShippingMethod[] {
  return methods.filter(({ countries }) => countries.length === 0 || countries.includes(country));
}

/** The name of a country. */
export function countryName(code: string, language: string): string {
  return new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code;
}
