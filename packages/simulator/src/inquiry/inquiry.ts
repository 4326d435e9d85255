import { ApiError, builtinResources, type KubernetesObject, type Resource } from '@coracle/api'
import { ConnectionError } from '@coracle/client'
import type { VirtualEnvironment } from '@coracle/environment'
import { type Explanation, explain, type Subject } from '@coracle/why'
import { Draw } from '../draw.ts'
import type { History } from '../history.ts'
import { gadgets, namespaceNames } from '../kinds.ts'
import type { Network } from '../network.ts'
import type { Servers } from '../servers.ts'
import { labelOf } from '../view.ts'
import { falseChanges } from './changes.ts'
import { falseFindings } from './findings.ts'
import { WriteLog } from './write-log.ts'

/** What is asked about: what people ask about, in the namespaces where things happen. */
const kinds: ReadonlySet<string> = new Set([
  'Pod',
  'ReplicaSet',
  'ReplicationController',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'PodDisruptionBudget',
  'ResourceQuota',
  'Service',
  'Namespace',
  'Node',
  'ConfigMap',
  'Gadget',
])

/** Objects that are gone and may be asked about still. */
const goneMax = 20

/**
 * Asks why things are as they are, about objects by chance, and holds every claim of the answers against what was written. It reads
 * and never writes: a run is the same with it and without.
 */
export class Inquiry {
  readonly #servers: Servers
  readonly #environment: VirtualEnvironment
  readonly #history: History
  readonly #network: Network
  readonly #log: WriteLog
  readonly #draw: Draw
  #gone: readonly KubernetesObject[] = []
  #last: readonly KubernetesObject[] = []
  /** Answers that were checked. */
  answers = 0

  constructor(servers: Servers, environment: VirtualEnvironment, history: History, network: Network) {
    this.#servers = servers
    this.#environment = environment
    this.#history = history
    this.#network = network
    this.#log = new WriteLog(servers.store)
    this.#draw = new Draw(environment.random.fork('inquiry'))
  }

  /** Asks about so many objects. */
  async ask(count: number): Promise<void> {
    this.#remember()
    for (let asked = 0; asked < count; asked++) {
      const object = this.#pick()
      if (object !== undefined) await this.#askAbout(object)
    }
  }

  close(): void {
    this.#log.close()
  }

  /** What was there when it last asked, and is not there any more. */
  #remember(): void {
    const now = [...this.#history.all()].filter(isAskedAbout)
    const there = new Set(now.map(({ metadata }) => metadata.uid))
    this.#gone = [...this.#last.filter(({ metadata }) => !there.has(metadata.uid)), ...this.#gone].slice(0, goneMax)
    this.#last = now
  }

  #pick(): KubernetesObject | undefined {
    const among = this.#draw.chance(0.1) && this.#gone.length > 0 ? this.#gone : this.#last
    const known = [...new Set(among.map(({ kind }) => kind))]
    if (known.length === 0) return undefined
    // As often of each kind, however many there are of it.
    const kind = this.#draw.of(known)
    return this.#draw.of(among.filter((object) => object.kind === kind))
  }

  async #askAbout(object: KubernetesObject): Promise<void> {
    const { name = '', namespace } = object.metadata
    const subject: Subject = { resource: resourceOf(object), name, ...(namespace === undefined ? {} : { namespace }) }
    const source = this.#draw.of(this.#servers.sources)
    const before = this.#servers.store.latest()
    const answer = await this.#answerTo(explain(source, subject, { changes: 10 }))
    // What is written while an answer is made may be in one part of it and not in another.
    if (answer === undefined || this.#servers.store.latest() !== before) return
    this.answers += 1
    const world = { view: this.#history, log: this.#log }
    const problems = [...falseFindings(answer, world), ...falseChanges(answer, this.#log, this.#network)]
    for (const problem of problems)
      this.#history.report('nothing that is told of why is false', `${labelOf(object)}: ${problem}`)
  }

  /**
   * No time passes for an answer. There is none where it waits for something that is broken, where nobody answers, and where the
   * record has nothing of what is gone.
   */
  async #answerTo(asking: Promise<Explanation>): Promise<Explanation | undefined> {
    let answer: Explanation | undefined
    let failure: unknown
    const asked = asking.then(
      (explanation) => {
        answer = explanation
      },
      (error: unknown) => {
        failure = error
      },
    )
    await this.#environment.clock.settle()
    if (answer !== undefined || failure !== undefined) await asked
    if (failure === undefined || failure instanceof ApiError || failure instanceof ConnectionError) return answer
    throw failure
  }
}

const near: ReadonlySet<string | undefined> = new Set([...namespaceNames, undefined])

const isAskedAbout = ({ kind, metadata }: KubernetesObject): boolean => kinds.has(kind) && near.has(metadata.namespace)

function resourceOf({ kind, apiVersion }: KubernetesObject): Resource {
  const found = builtinResources.find(
    (resource) =>
      resource.kind === kind &&
      apiVersion === `${resource.group === '' ? '' : `${resource.group}/`}${resource.version}`,
  )
  return found ?? gadgets
}
