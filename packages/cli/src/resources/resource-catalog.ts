import { apiVersionOf } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError } from '../cli-error.ts'

/** The resources a server has, by the names people give them. */
export class ResourceCatalog {
  readonly #resources: readonly DiscoveredResource[]
  readonly #warn: (text: string) => void

  /** `warn` is told of a short name that others have as well, in kubectl's words. */
  constructor(resources: readonly DiscoveredResource[], warn: (text: string) => void = () => {}) {
    this.#resources = resources
    this.#warn = warn
  }

  /**
   * The resource that `rc`, `pod`, `Pods`, `deployments.apps` or `deployments.v1.apps` means. Throws a CliError where
   * there is none. A plural comes before a short name, and the version a group prefers before its others.
   */
  find(text: string): DiscoveredResource {
    const found = this.#find(text)
    if (found !== undefined) return found
    const [name] = text.split('.', 1)
    throw new CliError(`the server doesn't have a resource type "${name}"${this.#suggest(text)}`)
  }

  /** Whether a text means a resource. */
  has(text: string): boolean {
    return this.#find(text) !== undefined
  }

  /** The resources a text means: those of a category such as `all`, or the one of that name. */
  findAll(text: string): readonly DiscoveredResource[] {
    const named = this.#find(text)
    if (named !== undefined) return [named]
    const members = this.#resources.filter(
      ({ categories, isPreferredVersion, verbs }) =>
        categories.includes(text.toLowerCase()) && isPreferredVersion && verbs.includes('list'),
    )
    return members.length > 0 ? members : [this.find(text)]
  }

  /** Every resource, in all versions. */
  all(): readonly DiscoveredResource[] {
    return this.#resources
  }

  /** Every resource, in the version its group prefers. */
  preferred(): readonly DiscoveredResource[] {
    return this.#resources.filter(({ isPreferredVersion }) => isPreferredVersion)
  }

  /** The resource of a kind, as a manifest names it. */
  ofKind(apiVersion: string, kind: string): DiscoveredResource | undefined {
    return this.#resources.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion)
  }

  /** Whether there is anything of a version, `apps/v1`. */
  hasVersion(apiVersion: string): boolean {
    return this.#resources.some((resource) => apiVersionOf(resource) === apiVersion)
  }

  #find(text: string): DiscoveredResource | undefined {
    const wanted = text.toLowerCase().replace(/\.$/, '')
    const dot = wanted.indexOf('.')
    const name = dot < 0 ? wanted : wanted.slice(0, dot)
    // Some resources of other servers have no name for one of them.
    if (name === '') return undefined
    const qualifier = dot < 0 ? undefined : wanted.slice(dot + 1)
    // Short names have one spelling alone.
    const [short = ''] = text.split('.', 1)
    for (const isQualified of qualifier === undefined
      ? [isAny]
      : [isQualifiedBy(qualifier), isGroupBegunBy(qualifier)]) {
      const candidates = this.#resources.filter(isQualified)
      const preferred = candidates.filter(({ isPreferredVersion }) => isPreferredVersion)
      const inOrder = [...preferred, ...candidates]
      const found = inOrder.find(isCalled(name))
      if (found !== undefined) return found
      const shortened = inOrder.find(hasShortName(short))
      if (shortened === undefined) continue
      this.#warnOfOthers(short, shortened, candidates)
      return shortened
    }
    return undefined
  }

  /** Tells which other resources have the short name that was taken for one. */
  #warnOfOthers(short: string, taken: DiscoveredResource, candidates: readonly DiscoveredResource[]): void {
    const names = candidates.filter(hasShortName(short)).map(fullName)
    for (const name of new Set(names)) {
      if (name !== fullName(taken)) this.#warn(`short name "${short}" could also match lower priority resource ${name}`)
    }
  }

  #suggest(text: string): string {
    const wanted = text.toLowerCase()
    const near = this.#resources.find(({ plural }) => distance(plural, wanted) <= (wanted.length > 4 ? 2 : 1))
    return near === undefined ? '' : `; did you mean "${near.plural}"?`
  }
}

const isCalled =
  (name: string) =>
  ({ plural, singular, kind }: DiscoveredResource): boolean =>
    plural === name || singular === name || kind.toLowerCase() === name

const hasShortName =
  (name: string) =>
  ({ shortNames }: DiscoveredResource): boolean =>
    shortNames.includes(name)

/** `pods`, `deployments.apps` */
const fullName = ({ plural, group }: DiscoveredResource): string => (group === '' ? plural : `${plural}.${group}`)

/** `apps` and `v1.apps` both qualify apps/v1; `v1` alone the core group. */
const isQualifiedBy =
  (qualifier: string) =>
  ({ group, version }: DiscoveredResource): boolean =>
    qualifier === group || qualifier === (group === '' ? version : `${version}.${group}`)

/** The beginning of a group qualifies where nothing has all of it, as in kubectl: `autoscal`. */
const isGroupBegunBy =
  (qualifier: string) =>
  ({ group }: DiscoveredResource): boolean =>
    group.startsWith(qualifier)

const isAny = (): boolean => true

/** Letters to add, drop or change to make one text of the other. */
function distance(a: string, b: string): number {
  let row = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
