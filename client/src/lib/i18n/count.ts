/** A number with the noun in the form that it needs. */
type Count = (n: number, shown: string) => string;

export const count =
  (one: string, other: string): Count =>
  (n, shown) =>
    `${shown} ${n === 1 ? one : other}`;

/** A word without a number, in the place of a number with its noun. */
export const uncounted =
  (word: string): Count =>
  () =>
    word;
