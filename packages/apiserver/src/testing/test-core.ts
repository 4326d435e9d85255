import { builtinKinds, type ConfigMap, configMaps, type Pod, type Resource, serviceAccounts } from '@coracle/api'
import type { Client, Watch, WatchEvent } from '@coracle/client'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { onTestFinished } from 'vitest'
import { type ApiCore, type ApiCoreOptions, createApiCore } from '../api-core.ts'
import { apiServerUser } from '../api-server-user.ts'
import type { NodeGateway } from '../node-gateway.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { Authorizer, RequestContext } from '../request.ts'

/** A core on a memory store under a virtual clock, and an administrator's client. */
export interface TestCore {
  readonly core: ApiCore
  readonly client: Client
  readonly store: Store
  readonly environment: VirtualEnvironment
  registry(resource: Resource): ResourceRegistry
}

export const admin: RequestContext = { user: apiServerUser, userAgent: 'test' }

export interface TestCoreOptions extends Omit<Partial<ApiCoreOptions>, 'authorizer'> {
  /** Everybody may do everything unless it is given; `default` is what a server has: roles and bindings. */
  readonly authorizer?: Authorizer | 'default'
}

export async function startTestCore({
  authorizer = { refuse: () => undefined },
  ...options
}: TestCoreOptions = {}): Promise<TestCore> {
  const environment = virtualEnvironment()
  const store = options.store ?? createMemoryStore()
  const core = createApiCore({
    environment,
    store,
    kinds: builtinKinds,
    ...(authorizer === 'default' ? {} : { authorizer }),
    ...options,
  })
  await core.ready
  onTestFinished(() => core.close())
  const registry = (resource: Resource): ResourceRegistry => {
    const found = core.registries.of(resource)
    if (found === undefined) throw new Error(`${resource.plural} are not served`)
    return found
  }
  const client = core.client(apiServerUser)
  // A store that the test brings stays as it is.
  if (options.store === undefined && core.registries.of(serviceAccounts) !== undefined)
    await createAccount(client, 'default')
  return { core, client, store, environment, registry }
}

/** A service account for pods to run as. Controllers make those of the name `default`; here there are none but in `default`. */
export async function createAccount(client: Client, name: string, namespace = 'default'): Promise<void> {
  const metadata = { namespace, name }
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: ConfigMap['metadata'] = {},
): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata }, data }
}

export function pod(name: string, metadata: Pod['metadata'] = {}, spec: Partial<Pod['spec']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
  } as Pod
}

/** What a watch has delivered, as it grows: `ADDED a`. */
export function follow(watch: Watch<never>): { readonly lines: string[]; readonly events: WatchEvent<never>[] } {
  const lines: string[] = []
  const events: WatchEvent<never>[] = []
  const read = async () => {
    for await (const event of watch) {
      events.push(event)
      const { object } = event as {
        readonly object: { readonly metadata?: { readonly name?: string }; readonly reason?: string }
      }
      lines.push(`${event.type} ${object.metadata?.name ?? object.reason ?? ''}`.trim())
    }
    lines.push('end')
  }
  void read()
  return { lines, events }
}

/** The Status of the error that a call ends with. */
export async function refusal(call: Promise<unknown>): Promise<{ code: number; reason: string; message: string }> {
  try {
    await call
  } catch (error) {
    const { code, reason, message } = error as { code: number; reason: string; message: string }
    return { code, reason, message }
  }
  throw new Error('the call succeeded')
}

export { configMaps }

/** A gateway to nodes that use nothing; `answers` are what it says beside. */
export function nodeGateway(answers: Partial<NodeGateway>): NodeGateway {
  return {
    remoteAgent: async () => undefined,
    ownAgent: () => undefined,
    logs: async () => (async function* () {})(),
    exec: () => Promise.reject(new Error('no node')),
    attach: () => Promise.reject(new Error('no node')),
    portForward: () => Promise.reject(new Error('no node')),
    podMetrics: async () => [],
    nodeMetrics: async () => undefined,
    ...answers,
  }
}
