/** Wheels, spins and their proofs. */
export const enWheels = {
  title: 'Wheels',
  all: 'All wheels',
  mine: 'My spins',
  areas: 'Wheels and spins',
  failedTitle: 'The wheels didn’t load',
  wheelFailed: 'The wheel didn’t load',
  emptyTitle: 'No wheels are open',
  emptyText: 'New ones come with the season. Quests earn points and coins meanwhile.',
  wheel: 'Wheel',
  freeNow: 'Free today',
  freeDaily: 'One free spin a day',
  perSpin: (price: string) => `${price} a spin`,
  /** The text of the drawing, whose segments the list of odds names. */
  drawing: (name: string, segments: string) =>
    `${name}: a wheel with ${segments} segments. The odds below list them.`,
  scale: 'Each segment is as large as its chance.',
  /** What is written on a segment. */
  unit: {
    coins: (n: number): string => (n === 1 ? 'coin' : 'coins'),
    points: (n: number): string => (n === 1 ? 'point' : 'points'),
  },
  short: { pack: 'Pack', collectible: 'Card', product: 'Product', code: 'Code', nothing: 'Nothing' },
  odds: 'The odds',
  segment: 'Segment',
  chance: 'Chance',
  leftThen: (shown: string, instead: string) => `${shown} left, then ${instead}`,
  gone: (instead: string) => `All gone: it gives ${instead}`,
  orElse: (instead: string) => `Where it can’t be given: ${instead}`,
  guaranteed: 'Guaranteed',
  pity: (after: string, names: string) =>
    `After ${after} spins in a row without one of these, the next spin gives one: ${names}.`,
  pityWithin: (n: string) => `You get one within your next ${n} spins.`,
  pityNext: 'Your next spin gives one.',
  rules: 'The rules',
  freeRule: 'One spin a day is free.',
  priceRule: (price: string, isOther: boolean) =>
    isOther ? `Every other spin costs ${price}.` : `A spin costs ${price}.`,
  limitRule: (n: number, shown: string) =>
    n === 1 ? 'At most one spin a day.' : `At most ${shown} spins a day, free ones included.`,
  fair: 'How a spin stays fair',
  fairText:
    'The seed of your next spin is fixed, and this is its hash. Your browser adds a seed of its own. Afterwards it computes the spin again.',
  hash: (spin: string) => `SHA-256 of the seed of spin ${spin}`,
  spinFree: 'Spin, it’s free today',
  spinFor: 'Spin for',
  spin: 'Spin',
  spinning: 'Spinning',
  skip: 'Show the result',
  nextFree: (time: string) => `Next free spin: ${time}`,
  thenFor: (price: string) => `After it, a spin costs ${price}.`,
  after: (shown: string) => `You will have ${shown} left.`,
  lacking: (shown: string) => `You are ${shown} short.`,
  howToEarn: 'How to earn more',
  signIn: 'Sign in to spin',
  maybeSpun: 'Whether it was spun is not known. Spinning again now continues the same spin.',
  why: {
    no_free_spin: 'Today’s free spin is used.',
    seed_changed: 'Another spin of yours came first. The wheel is up to date now: spin again.',
    wheel_closed: 'This wheel can’t be spun at the moment.',
    limit_reached: 'You had all spins of this wheel for today. There are more tomorrow.',
    insufficient_balance: 'You have too little for it.',
    account_too_new: 'Some of what it gives is limited: it needs an account of at least a day.',
  },
  got: (shown: string) => `You got ${shown}`,
  gotNothing: 'Nothing this time',
  instead: (label: string) => `In place of “${label}”, which could not be given.`,
  see: 'See it',
  spins: {
    failedTitle: 'Your spins didn’t load',
    signInText: 'Your spins belong to your account.',
    emptyTitle: 'No spins yet',
    emptyText: 'Each spin is listed here, with what it gave and how it was drawn.',
    emptyAction: 'To the wheels',
    more: 'Show older spins',
    free: 'Free',
    unknown: 'A wheel',
  },
  proof: {
    show: 'the steps',
    promised: 'The promise is the one this browser saw before the spin',
    table: 'The odds are those this browser saw before the spin',
    pity: 'The count towards the guarantee is the one this browser saw',
    segment: 'The segment is the one that was drawn',
    notSeen: 'This browser did not see the promise before the spin.',
    guaranteed: 'The spin was drawn among the guaranteed segments.',
    draw: 'The draw',
  },
};

/** The texts of one language for wheels. */
export type Wheels = typeof enWheels;
export default enWheels;
