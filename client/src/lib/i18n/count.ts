/** A number with the noun in the form that it needs. */
type Count = (n: number, shown: string) => string;

export const count =
  (one: string, other: string): Count =>
  (n, shown) =>
    `${shown} ${n === 1 ? one : other}`;
