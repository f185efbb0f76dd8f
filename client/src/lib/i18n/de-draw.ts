import type { Draw } from './en-draw';

export const deDraw: Draw = {
  checkImpossible:
    'Ohne https rechnet dieser Browser keine Prüfsummen. Bei den Regeln der Ziehung steht ein Skript dafür.',
  isTrue: 'Die Ziehung stimmt',
  isFalse: 'Die Ziehung ergibt das nicht',
  seedStep: 'Der Startwert ist der versprochene',
  clientStep: 'Der Startwert deines Browsers wurde benutzt',
  tableStep: 'Die Chancen sind die des Beweises',
  choice: (word, total, rest) => `${word} mod ${total} = ${rest}`,
  seed: 'Startwert des Dienstes',
  clientSeed: 'Startwert des Browsers',
  holds: 'Stimmt',
  fails: 'Stimmt nicht',
};
