/** The three numbers of a club's main colour in oklch: lightness, chroma and hue. */
interface ClubColour {
  l: number;
  c: number;
  h: number;
}

/** Below this chroma a colour reads as black, grey or white. */
const GREY = 0.03;

/** The colour of a club: the first of its colours that is one; its first where all are grey; null where none is known. */
export function clubColour(colours: readonly string[]): ClubColour | null {
  const known = colours.map(oklch).filter((colour) => colour !== null);
  return known.find((colour) => colour.c >= GREY) ?? known[0] ?? null;
}

/** Converts `#rrggbb` by the matrices of CSS Color 4. */
function oklch(hex: string): ClubColour | null {
  const digits = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(hex);
  if (!digits) return null;
  const [r = 0, g = 0, b = 0] = digits.slice(1).map((pair) => linear(Number.parseInt(pair, 16) / 255));
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const light = 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short;
  const redness = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const yellowness = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  const hue = (Math.atan2(yellowness, redness) * 180) / Math.PI;
  return { l: light, c: Math.hypot(redness, yellowness), h: (hue + 360) % 360 };
}

function linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}
