import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Api, makeNamespace, post } from './api.ts'
import { eventually, type Outcome, type Program, type RunOptions } from './program.ts'
import { thriftyTools, tools } from './tools.ts'

/** What the tests read of any object. */
export interface AnyObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[]
  }
  readonly data?: Readonly<Record<string, string>>
}

export interface PodCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface PodObject extends AnyObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] }
  readonly status: {
    readonly phase: string
    readonly conditions?: readonly PodCondition[]
    readonly containerStatuses?: readonly { readonly restartCount: number }[]
  }
}

export interface ControllerObject extends AnyObject {
  readonly spec: { readonly replicas: number }
  readonly status: { readonly replicas: number; readonly readyReplicas?: number; readonly observedGeneration?: number }
}

export interface EventObject extends AnyObject {
  readonly reason: string
  readonly involvedObject: { readonly kind: string; readonly name: string }
}

/** What the tests look at, by the name in the path. */
type Resource = 'configmaps' | 'events' | 'nodes' | 'pods' | 'replicationcontrollers' | 'secrets' | 'serviceaccounts'

/**
 * kubectl against one program, within one namespace. The verbs under test are kubectl's; `create`, `get`, `list` and
 * the waiting around them go by bare HTTPS, which costs no process each.
 */
export class Kubectl {
  readonly #program: Program
  readonly #api: Api
  readonly namespace: string

  private constructor(program: Program, api: Api, namespace: string) {
    this.#program = program
    this.#api = api
    this.namespace = namespace
  }

  static async in(program: Program, namespace = 'default'): Promise<Kubectl> {
    return new Kubectl(program, await Api.of(program), namespace)
  }

  /** A namespace made for one test, ready for pods. */
  static async inNewNamespace(program: Program, name: string): Promise<Kubectl> {
    const kubectl = await Kubectl.in(program, name)
    await makeNamespace(kubectl.#api, name)
    return kubectl
  }

  #arguments(args: readonly string[]): readonly string[] {
    return this.namespace === 'default' ? args : ['--namespace', this.namespace, ...args]
  }

  /** Runs it to its end, whatever its exit code. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return this.#program.kubectl(this.#arguments(args), options)
  }

  /** Runs what must succeed, and returns what it printed. */
  ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
    return this.#program.kubectlOk(this.#arguments(args), options)
  }

  #path(resource: Resource): string {
    return resource === 'nodes' ? '/api/v1/nodes' : `/api/v1/namespaces/${this.namespace}/${resource}`
  }

  async create(resource: Resource, ...objects: readonly object[]): Promise<void> {
    for (const object of objects) await this.#api.object(this.#path(resource), post(object))
  }

  /** One object; throws where it is not there. */
  get<T extends AnyObject = AnyObject>(resource: Resource, name: string): Promise<T> {
    return this.#api.object(`${this.#path(resource)}/${name}`) as Promise<T>
  }

  async exists(resource: Resource, name: string): Promise<boolean> {
    return (await this.#api.call(`${this.#path(resource)}/${name}`)).code !== 404
  }

  async list<T extends AnyObject = AnyObject>(resource: Resource, labelSelector = ''): Promise<readonly T[]> {
    const query = labelSelector === '' ? '' : `?labelSelector=${encodeURIComponent(labelSelector)}`
    return ((await this.#api.object(this.#path(resource) + query)) as { readonly items: readonly T[] }).items
  }

  /** Waits until the controller's status, of its latest spec, says that it has this many pods and all are ready. */
  async waitForReplicas(name: string, replicas: number): Promise<void> {
    await eventually(`${replicas} ready pods of ${name}`, async () => {
      const { metadata, status } = await this.get<ControllerObject>('replicationcontrollers', name)
      if (status.observedGeneration !== metadata.generation || status.replicas !== replicas) return false
      return (status.readyReplicas ?? 0) === replicas
    })
  }

  /** Starts one that runs until it is stopped, such as a watch. `input` is all that it can read. */
  async start(args: readonly string[], input = ''): Promise<RunningKubectl> {
    const { kubectl } = await tools()
    const child = spawn(kubectl, ['--kubeconfig', this.#program.kubeconfig, ...this.#arguments(args)], {
      env: { ...process.env, ...thriftyTools, HOME: this.#program.dataDir },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin.on('error', () => {}) // it may end without reading its input
    child.stdin.end(input)
    const lines: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
    const closed = once(child, 'close')
    return {
      lines,
      code: closed.then(([code]) => code as number | null),
      async [Symbol.asyncDispose]() {
        child.kill()
        await closed
      },
    }
  }
}

/** A kubectl that has not ended, and the lines it has printed so far. */
export interface RunningKubectl extends AsyncDisposable {
  readonly lines: readonly string[]
  /** Resolves with its exit code when it has ended; null where a signal ended it. */
  readonly code: Promise<number | null>
}

/** Objects as a file that `-f` takes. */
export const manifest = (...objects: readonly object[]): string =>
  objects.map((object) => JSON.stringify(object)).join('\n---\n')

/** The lines of a table, each split into its cells. Cells here never hold two spaces in a row. */
export const rows = (table: string): readonly (readonly string[])[] =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/ {2,}/))

export const configMap = (name: string, data: Readonly<Record<string, string>>, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})

export const pod = (name: string, metadata: object = {}, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'example/main:1' }], ...spec },
})

/** A controller of pods labelled `app: NAME`, unless other labels are given. */
export const controller = (
  name: string,
  replicas: number,
  labels: Readonly<Record<string, string>> = { app: name },
): object => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name, labels },
  spec: {
    replicas,
    selector: labels,
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'web', image: 'example/web:1', ports: [{ containerPort: 80 }] }] },
    },
  },
})

/** Who the objects are, in an order that only depends on that. */
export const uids = (objects: readonly AnyObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.uid).sort()
