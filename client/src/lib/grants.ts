import type { Grant } from './api/types';
import { href } from './router/match';

/** Where a fan finds what was given; null where it is in no place of its own. */
export function placeOfGrant({ kind, id }: Grant): string | null {
  switch (kind) {
    case 'points':
    case 'coins':
      return href('balances', {});
    case 'pack':
      return href('ownPacks', {});
    case 'collectible':
      return href('collection', {});
    case 'product':
      return id === null ? null : href('product', { id });
    case 'code':
    case 'nothing':
      return null;
  }
}
