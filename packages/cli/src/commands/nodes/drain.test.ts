import { ApiError, type KubernetesObject, type Pod } from '@coracle/api'
import type { DiscoveredResource, HttpClient } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { run } from '../../program.ts'
import { recordingHost } from '../../testing/recording-host.ts'

const resource = (plural: string, kind: string, namespaced: boolean): DiscoveredResource => ({
  ...{ group: '', version: 'v1', kind, plural, singular: kind.toLowerCase(), namespaced },
  ...{ shortNames: [], categories: [], verbs: ['get', 'list'], subresources: [], isPreferredVersion: true },
})

/** The command is loaded meanwhile, which takes a busy machine its time. */
const podNamed = (name: string, metadata: object = {}): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', uid: name, ...metadata }, spec: {} }) as Pod

const refusal = (code: number, reason: string, message: string, causes: readonly { readonly reason: string }[] = []) =>
  new ApiError(code, reason, message, { causes: causes.map((cause) => ({ message: '', field: '', ...cause })) })

const protectedByBudget = () => refusal(429, 'TooManyRequests', 'budget')
const inGoingNamespace = () =>
  refusal(403, 'Forbidden', 'namespace shop is going', [{ reason: 'NamespaceTerminating' }])

/** Drains a node with these pods; `evict` answers each request for one to go. */
function draining(pods: readonly Pod[], evict: (name: string, tries: number) => void, get: (name: string) => Pod) {
  const environment = virtualEnvironment()
  const tries = new Map<string, number>()
  const notFound = (name: string) => refusal(404, 'NotFound', `pods "${name}" not found`)
  const gone = new Set<string>()
  const client = {
    discover: async () => [resource('nodes', 'Node', false), resource('pods', 'Pod', true)],
    list: async () => ({ items: pods.filter(({ metadata: { name = '' } }) => !gone.has(name)), metadata: {} }),
    patch: async (_: unknown, { name }: { readonly name: string }) => ({ kind: 'Node', metadata: { name } }),
    get: async ({ kind }: { readonly kind: string }, { name }: { readonly name: string }) => {
      if (kind === 'Node') return { apiVersion: 'v1', kind, metadata: { name } }
      if (gone.has(name)) throw notFound(name)
      return get(name)
    },
    createSubresource: async (_: unknown, { name }: { readonly name: string }) => {
      const count = (tries.get(name) ?? 0) + 1
      tries.set(name, count)
      evict(name, count)
      gone.add(name)
    },
    // Nothing changes while it is watched.
    watch: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => ({
      close: () => {},
      async *[Symbol.asyncIterator](): AsyncGenerator<KubernetesObject> {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }),
  } as unknown as HttpClient
  const host = { ...recordingHost({ environment }), connect: async () => ({ client, namespace: 'default' }) }
  const end = (...flags: readonly string[]) => run(['drain', 'node-0', '--force', ...flags], host)
  return { end, environment, written: host.written, tries }
}

it('asks each pod of a node to go, however many are held up', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `pod-${index}`)
  const { end, environment, tries, written } = draining(
    names.map((name) => podNamed(name)),
    (name) => {
      if (name !== 'pod-59') throw protectedByBudget()
    },
    podNamed,
  )
  const ended = end('--timeout=1s')
  await expect.poll(() => written.stdout).toContain('pod-59 evicted')
  await environment.clock.advance('5s')
  expect(await ended).toBe(1)
  expect([...tries.keys()]).toEqual(names)
  expect(written.stdout).toContain('pod/pod-59 evicted\n')
})

it('tells of all pods that have not gone, and each time that one is asked to', async () => {
  const { end, environment, written } = draining(
    [podNamed('a'), podNamed('b')],
    () => {
      throw protectedByBudget()
    },
    podNamed,
  )
  const ended = end('--timeout=3s')
  await expect.poll(() => written.stderr).toContain('pods/"b"')
  await environment.clock.advance('5s')
  expect(await ended).toBe(1)
  const late = (name: string) => `error when evicting pods/"${name}" -n "shop": global timeout reached: 3s`
  expect(written.stdout).toBe(
    `node/node-0 cordoned\n${['a', 'b', 'a', 'b'].map((name) => `evicting pod shop/${name}\n`).join('')}`,
  )
  expect(written.stderr).toBe(
    [
      'Warning: deleting Pods that declare no controller: shop/a, shop/b',
      'error when evicting pods/"a" -n "shop" (will retry after 5s): budget',
      'error when evicting pods/"b" -n "shop" (will retry after 5s): budget',
      `There are pending pods in node "node-0" when an error occurred: [${late('a')}, ${late('b')}]`,
      'pod/a',
      'pod/b',
      `error: unable to drain node "node-0" due to error: [${late('a')}, ${late('b')}], continuing command...`,
      'There are pending nodes to be drained:',
      ' node-0',
      late('a'),
      late('b'),
      '',
    ].join('\n'),
  )
})

it('waits for pods of a namespace that is being deleted: nothing can be evicted there', async () => {
  let isMarked = false
  const marked = (name: string) => podNamed(name, isMarked ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {})
  const { end, environment, tries, written } = draining(
    [podNamed('a')],
    () => {
      throw inGoingNamespace()
    },
    marked,
  )
  const ended = end('--timeout=30s')
  await expect
    .poll(() => written.stderr)
    .toContain(
      'error when evicting pod "a" from terminating namespace "shop" (will retry after 5s): namespace shop is going\n',
    )
  isMarked = true
  await environment.clock.advance('5s')
  expect(tries.get('a')).toBe(2)
  // It is waited for from now on, and no more asked to go.
  await environment.clock.advance('30s')
  expect(await ended).toBe(1)
  expect(tries.get('a')).toBe(2)
  expect(written.stderr).toContain(
    'due to error: error when waiting for pod "a" in namespace "shop" to terminate: context deadline exceeded, continuing command...\n',
  )
})
