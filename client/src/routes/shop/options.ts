import type { Variant } from '$lib/api/types';

/** A value of an option, and the variant that choosing it leads to. */
interface Value {
  value: string;
  variant: Variant;
}

export interface OptionGroup {
  name: string;
  values: Value[];
}

function valueOf({ options }: Variant, name: string): string | null {
  return options.find((option) => option.name === name)?.value ?? null;
}

/** How much of what is chosen stays with another variant. One that can be had wins over one that can't. */
function closeness(variant: Variant, chosen: Variant): number {
  const same = chosen.options.filter(({ name, value }) => valueOf(variant, name) === value).length;
  return same + (variant.available ? 0.5 : 0);
}

/** The options by which variants differ, in the order of the content, and where each value leads from the chosen variant. */
export function optionGroups(variants: readonly Variant[], chosen: Variant): OptionGroup[] {
  const names = [...new Set(variants.flatMap(({ options }) => options.map(({ name }) => name)))];
  const groups = names.map((name) => {
    const values = new Map<string, Variant>();
    for (const variant of variants) {
      const value = valueOf(variant, name);
      if (value === null) continue;
      const other = values.get(value);
      if (!other || closeness(variant, chosen) > closeness(other, chosen)) values.set(value, variant);
    }
    const own = valueOf(chosen, name);
    if (own !== null) values.set(own, chosen);
    return { name, values: [...values].map(([value, variant]) => ({ value, variant })) };
  });
  return groups.filter(({ values }) => values.length > 1);
}

/** Whether the options tell all variants apart; where they don't, the names of the variants do. */
export function areTold(variants: readonly Variant[]): boolean {
  const told = variants.map(({ options }) => JSON.stringify(options));
  return new Set(told).size === variants.length;
}

/** The variant that is shown first: the wanted one, else the first that can be had. */
export function firstVariant(variants: readonly Variant[], wanted: string | null): Variant | null {
  const asked = variants.find(({ id }) => id === wanted);
  return asked ?? variants.find(({ available }) => available) ?? variants[0] ?? null;
}
