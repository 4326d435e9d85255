import { type Inapplicable, isLeftOutBy } from './inapplicable.ts'

/** A spec that is left out, and why. */
export interface LeftOut {
  readonly name: string
  readonly reason: string
}

export interface Choice {
  /** To be run side by side, and then one after the other with nothing beside them. */
  readonly parallel: readonly string[]
  readonly serial: readonly string[]
  readonly leftOut: readonly LeftOut[]
}

export interface Wanted {
  /** Only specs that this is found in. */
  readonly focus?: RegExp | undefined
  /** Those that do not apply, too. */
  readonly all: boolean
}

/** Which of the specs are run, in the order of their names. */
export function chooseSpecs(
  names: readonly string[],
  { focus, all }: Wanted,
  inapplicable: readonly Inapplicable[],
): Choice {
  const wanted = [...new Set(names)].filter((name) => focus === undefined || focus.test(name)).sort()
  const leftOut = all
    ? []
    : wanted.flatMap((name) => {
        const found = inapplicable.find(isLeftOutBy(name))
        return found === undefined ? [] : [{ name, reason: found.reason }]
      })
  const without = new Set(leftOut.map(({ name }) => name))
  const chosen = wanted.filter((name) => !without.has(name))
  return {
    parallel: chosen.filter((name) => !needsAll(name)),
    serial: chosen.filter(needsAll),
    leftOut,
  }
}

/** Upstream's marks of specs that change what others rely on. */
const needsAll = (name: string): boolean => /\[(Serial|Disruptive)\]/.test(name)

/** Groups of about equal size, dealt like cards: neighbours take about as long, and go to different groups. */
export function groupsOf(names: readonly string[], size: number): readonly (readonly string[])[] {
  const count = Math.ceil(names.length / size)
  return Array.from({ length: count }, (_, group) => names.filter((_, index) => index % count === group))
}

/** A regular expression, as Go reads it, that finds these specs alone. Ginkgo looks for it in the name after that of the suite. */
export const focusOf = (names: readonly string[]): string =>
  `(${names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})$`
