/** A time that passes, in whole days or hours. */
export function durationIn(locale: string, seconds: number): string {
  const hours = Math.round(seconds / 3600);
  const [value, unit] = hours % 24 === 0 && hours > 24 ? [hours / 24, 'day'] : [hours, 'hour'];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

/** A decimal number with all its places, which may be more than a number holds or `Intl` writes. */
export function decimalIn(locale: string, text: string): string {
  const [, whole, places] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  const format = new Intl.NumberFormat(locale);
  const point = format.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';
  return format.format(BigInt(whole)) + (places === undefined ? '' : point + places);
}
