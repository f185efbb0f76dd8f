/** How a draw is computed again: of a pack, and of a spin. */
export const enDraw = {
  checkImpossible:
    'This browser computes no hashes without https. The page of the draw’s rules has a script for it.',
  isTrue: 'The draw is true',
  isFalse: 'The draw does not come to this',
  seedStep: 'The seed is the one that was promised',
  clientStep: 'Your browser’s seed was used',
  tableStep: 'The odds are those of the proof',
  choice: (word: string, total: string, rest: string) => `${word} mod ${total} = ${rest}`,
  seed: 'Seed of the service',
  clientSeed: 'Seed of the browser',
  holds: 'Holds',
  fails: 'Does not hold',
};

/** The texts of one language for draws. */
export type Draw = typeof enDraw;
