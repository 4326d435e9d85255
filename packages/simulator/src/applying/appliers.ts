import { ApiError, type KubernetesObject } from '@coracle/api'
import type { ApplyConfiguration, Client } from '@coracle/client'
import type { SoleWriterStore } from '@coracle/store'
import { resourceOf } from '../kinds.ts'
import { nameOf, type Request, type Target } from '../operation.ts'
import { objectWithOwnersIn } from '../stored-objects.ts'
import { objectOf } from './fields.ts'
import {
  afterApply,
  afterUpdate,
  conflictingContainers,
  conflictsOf,
  type FieldStates,
  isUnowned,
  ownedBefore,
  statesOf,
} from './model.ts'
import { fieldNamesOf } from './story.ts'

/** What gives an object fields. */
export type FieldRequest = Extract<Request, { readonly type: 'apply' | 'write-fields' }>

export const isFieldRequest = (request: Pick<Request, 'type'>): request is FieldRequest =>
  request.type === 'apply' || request.type === 'write-fields'

/** What is known of an object after the last request about it that is over. */
interface Known {
  readonly target: Target
  readonly uid: string | undefined
  /** What its fields may be: those of before and after the request, where nobody knows what has become of that. */
  readonly possible: readonly FieldStates[]
}

/** Does a request that gives an object fields. */
export async function giveFields(client: Client, request: FieldRequest): Promise<KubernetesObject> {
  const { kind, namespace = '', name } = request.target
  const resource = resourceOf(kind)
  if (request.type === 'write-fields') {
    const body = objectOf({}, request.fields)
    const type = kind === 'Deployment' ? 'strategic' : 'merge'
    return client.patch(resource, { namespace, name }, { type, body }, { fieldManager: request.manager })
  }
  const { manager: fieldManager, isForced: force } = request
  const labels = { app: name }
  const own = { selector: { matchLabels: labels }, template: { metadata: { labels } } }
  const metadata = { namespace, name }
  const base =
    kind === 'Deployment' ? { apiVersion: 'apps/v1', kind, metadata, spec: own } : { apiVersion: 'v1', kind, metadata }
  const configuration = objectOf(base, request.fields) as ApplyConfiguration<KubernetesObject>
  return client.apply(resource, configuration, { fieldManager, force })
}

/**
 * Gives objects fields, and holds what comes of it against a model of who owns what: nobody else writes these fields, so that they stay until the next request.
 */
export class Appliers {
  readonly #client: Client
  readonly #store: Pick<SoleWriterStore, 'get'>
  readonly #report: (rule: string, message: string) => void
  readonly #known = new Map<string, Known>()
  /** Requests under way, that may take effect at any time. */
  #open = 0

  constructor(client: Client, store: Pick<SoleWriterStore, 'get'>, report: (rule: string, message: string) => void) {
    this.#client = client
    this.#store = store
    this.#report = report
  }

  async ask(request: FieldRequest): Promise<void> {
    if (this.#open > 0) this.#known.clear()
    const isAlone = this.#open === 0
    this.#open += 1
    try {
      await (isAlone ? this.#askAlone(request) : giveFields(this.#client, request))
    } finally {
      this.#open -= 1
    }
  }

  /** Sees to it that what was given is still there. */
  async check(): Promise<void> {
    if (this.#open > 0) return
    for (const { target } of [...this.#known.values()]) await this.#look(target)
  }

  async #askAlone(request: FieldRequest): Promise<void> {
    const { target, manager } = request
    const key = nameOf(target)
    const before = await this.#look(target)
    const states = statesOf(before, fieldNamesOf(target))
    const owned = isUnowned(before) ? ownedBefore(states) : states
    const conflicts =
      request.type === 'apply'
        ? [
            ...conflictsOf(owned, manager, request.fields),
            ...conflictingContainers(before, manager, request.fields),
          ].sort()
        : []
    const isRefused = request.type === 'apply' && !request.isForced && conflicts.length > 0
    const expected = isRefused
      ? states
      : request.type === 'apply'
        ? afterApply(owned, manager, request.fields)
        : afterUpdate(states, isUnowned(before) ? undefined : manager, request.fields)
    const uid = before?.metadata.uid
    this.#known.set(key, { target, uid, possible: [states, expected] })
    let answer: KubernetesObject
    try {
      answer = await giveFields(this.#client, request)
    } catch (error) {
      const told = conflictsIn(error)
      if (told !== undefined) {
        this.#known.set(key, { target, uid, possible: [states] })
        if (request.type === 'apply' && !(isRefused && told.join() === conflicts.join())) {
          const wanted = isRefused ? conflicts.join(', ') : 'none'
          this.#report(
            'who applies is refused only what others own',
            `${manager} applies ${key}: conflicts are ${told.join(', ')}, and should be ${wanted}`,
          )
        }
      }
      throw error
    }
    this.#known.set(key, { target, uid: answer.metadata.uid, possible: [expected] })
    if (isRefused)
      this.#report(
        'who applies is refused only what others own',
        `${manager} applies ${key}: nothing is refused of ${conflicts.join(', ')}`,
      )
    else await this.#look(target)
    if (request.type === 'apply' && !isRefused) await this.#again(request)
  }

  /** The object as it is, which must have what it was given. */
  async #look(target: Target): Promise<KubernetesObject | undefined> {
    const key = nameOf(target)
    const object = await this.#read(target)
    const known = this.#known.get(key)
    // Who deleted it may have been anybody.
    if (object !== undefined && known !== undefined && (known.uid === undefined || known.uid === object.metadata.uid))
      this.#compare('later', object, known.possible, target)
    const states = statesOf(object, fieldNamesOf(target))
    this.#known.set(key, { target, uid: object?.metadata.uid, possible: [states] })
    return object
  }

  async #read({ kind, namespace, name }: Target): Promise<KubernetesObject | undefined> {
    const { group, plural } = resourceOf(kind)
    const entry = await this.#store.get(`/registry/${group || 'core'}/${plural}/${namespace}/${name}`)
    return entry && objectWithOwnersIn(entry.value)
  }

  /** The same once more is no change. */
  async #again(request: FieldRequest): Promise<void> {
    const { target, manager } = request
    const before = await this.#read(target)
    const problem = await giveFields(this.#client, request).then(
      () => undefined,
      (error: unknown) => conflictsIn(error)?.join(', '),
    )
    const after = await this.#read(target)
    if (before === undefined || after === undefined || after.metadata.uid !== before.metadata.uid) return
    const of = ({ metadata: { generation, managedFields = [] } }: KubernetesObject) =>
      JSON.stringify([generation, managedFields.find((each) => each.manager === manager && each.operation === 'Apply')])
    if (problem === undefined && of(before) === of(after)) return
    const told = problem === undefined ? `${of(before)} has become ${of(after)}` : `conflicts are ${problem}`
    this.#report('who applies the same again changes nothing', `${manager} applies ${nameOf(target)}: ${told}`)
  }

  #compare(when: string, object: KubernetesObject, possible: readonly FieldStates[], target: Target): void {
    const found = statesOf(object, fieldNamesOf(target))
    const wrong = possible.map((each) => differences(found, each))
    if (wrong.some((each) => each === '')) return
    this.#report('an object has what it was given', `${nameOf(target)} ${when}: ${wrong.join(', or ')}`)
  }
}

function differences(found: FieldStates, wanted: FieldStates): string {
  const of = (states: FieldStates, name: string): string => {
    const { value, owners = [] } = states[name] ?? {}
    return `${value ?? 'nothing'} (${owners.join(', ')})`
  }
  return Object.keys(wanted)
    .filter((name) => of(found, name) !== of(wanted, name))
    .map((name) => `${name} is ${of(found, name)} and not ${of(wanted, name)}`)
    .join('; ')
}

/** The fields that a refusal is about, sorted; undefined where it is none of this kind. */
function conflictsIn(error: unknown): readonly string[] | undefined {
  if (!(error instanceof ApiError)) return undefined
  const causes = (error.status.details?.causes ?? []).filter(({ reason }) => reason === 'FieldManagerConflict')
  return causes.length === 0 ? undefined : [...new Set(causes.map(({ field = '' }) => field))].sort()
}
