import type { Toleration } from '@coracle/api'

/** Whether a list of what may be tolerated covers all of these; an empty one allows everything. */
export function allows(allowed: readonly Toleration[], tolerations: readonly Toleration[]): boolean {
  if (allowed.length === 0) return true
  const wide = new Coverage()
  for (const each of allowed) wide.add(each)
  return tolerations.every((each) => wide.includes(each))
}

/**
 * Two lists as one, without what another toleration covers; of equal ones the first stays (upstream's MergeTolerations). The time it takes
 * grows with their length, which is for users to choose.
 */
export function mergedTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second]
  const later = new Coverage()
  const isCoveredLater = all.map(() => false)
  for (const [index, each] of [...all.entries()].reverse()) {
    isCoveredLater[index] = later.includesByAnother(each)
    later.add(each)
  }
  const kept = new Coverage()
  return all.filter((each, index) => {
    if (isCoveredLater[index] || kept.includes(each)) return false
    kept.add(each)
    return true
  })
}

/** A toleration of those that cover the same for different times. */
interface Timed {
  readonly identity: string
  readonly seconds: number | bigint
}

/** What some tolerations cover together, found without looking at each. */
class Coverage {
  readonly #identities = new Set<string>()
  /** By what they tolerate: of those that are not equal, the two that do so for longest. */
  readonly #longest = new Map<string, readonly Timed[]>()

  add(toleration: Toleration): void {
    const identity = identityOf(toleration)
    if (this.#identities.has(identity)) return
    this.#identities.add(identity)
    const { key = '', operator = '', value = '', effect = '' } = toleration
    const ofAnyValue = operator === 'Exists'
    if (!ofAnyValue && operator !== '' && operator !== 'Equal') return
    const term = termOf(key, ofAnyValue ? undefined : value, effect)
    const seconds = effect === 'NoExecute' ? secondsOf(toleration) : Number.POSITIVE_INFINITY
    const longest = [...(this.#longest.get(term) ?? []), { identity, seconds }].sort((a, b) =>
      a.seconds < b.seconds ? 1 : -1,
    )
    this.#longest.set(term, longest.slice(0, 2))
  }

  /** Whether one of them tolerates all that this one does. */
  includes(toleration: Toleration): boolean {
    return this.#identities.has(identityOf(toleration)) || this.includesByAnother(toleration)
  }

  /** Whether one that is not equal to this one does. */
  includesByAnother(toleration: Toleration): boolean {
    const identity = identityOf(toleration)
    const seconds = secondsOf(toleration)
    return termsCovering(toleration).some((term) =>
      (this.#longest.get(term) ?? []).some((wide) => wide.identity !== identity && wide.seconds >= seconds),
    )
  }
}

/** What covers a toleration but for the time: an empty key with Exists is every key, an empty effect every effect. */
function termsCovering({ key = '', operator, value = '', effect = '' }: Toleration): readonly string[] {
  return ['', effect].flatMap((wide) => [
    termOf('', undefined, wide),
    termOf(key, undefined, wide),
    ...(operator === 'Equal' ? [termOf(key, value, wide)] : []),
  ])
}

/** Without a value: whatever it is. */
const termOf = (key: string, value: string | undefined, effect: string): string => JSON.stringify([key, value, effect])

const secondsOf = ({ tolerationSeconds = Number.POSITIVE_INFINITY }: Toleration): number | bigint => tolerationSeconds

/** The same for tolerations that are equal as Go sees them: an empty text is an absent one. */
const identityOf = ({ key, operator, value, effect, tolerationSeconds }: Toleration): string =>
  JSON.stringify([key || '', operator || '', value || '', effect || '', tolerationSeconds])
