import { ApiError, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, HttpClient } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, vi } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

const deployments: DiscoveredResource = {
  ...{ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', singular: 'deployment' },
  ...{ namespaced: true, shortNames: [], categories: [], verbs: ['get', 'list'], subresources: ['scale'] },
  isPreferredVersion: true,
}

/** The command is loaded meanwhile, which takes a busy machine its time. */
const patience = { timeout: 60_000 }

const metadata = { name: 'web', namespace: 'default', resourceVersion: '7' }

interface Replicas {
  readonly spec: number
  readonly status: number
}

/** Scales a Deployment; `write` answers each try to. What it has by then is `now()`. */
function scaling(line: string, write: (tries: number) => number, now: (tries: number) => Replicas) {
  const environment = virtualEnvironment()
  let tries = 0
  const scaleOf = ({ spec, status }: Replicas) => ({
    kind: 'Scale',
    metadata,
    spec: { replicas: spec },
    status: { replicas: status },
  })
  const written = async () => ({ kind: 'Scale', metadata, spec: { replicas: write(++tries) } })
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 1, paused: true } }
  const client = {
    discover: async () => [deployments],
    get: async (_: unknown, _key: unknown, options?: { readonly subresource?: string }) =>
      options?.subresource === 'scale' ? scaleOf(now(tries)) : deployment,
    list: async () => ({ items: [deployment], metadata: {} }),
    patch: written,
    update: written,
    // Nothing changes while it is watched.
    watch: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => ({
      close: () => {},
      async *[Symbol.asyncIterator](): AsyncGenerator<KubernetesObject> {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }),
  } as unknown as HttpClient
  const host = { ...recordingHost({ environment }), connect: async () => ({ client, namespace: 'default' }) }
  const end = run(['scale', 'deployment', 'web', ...line.split(' ')], host)
  return { end, environment, written: host.written, tries: () => tries }
}

const conflict = () => new ApiError(409, 'Conflict', 'the object has been modified')

describe('scale', () => {
  it.each(['--replicas=3', '--replicas=3 --current-replicas=1'])(
    '%s tries again where somebody else was first',
    async (line) => {
      const { end, environment, written, tries } = scaling(
        line,
        (tries) => {
          if (tries < 3) throw conflict()
          return 3
        },
        () => ({ spec: 1, status: 1 }),
      )
      await vi.waitFor(() => expect(tries()).toBe(1), patience)
      await environment.clock.advance('2s')
      expect([await end, written.stdout, tries()]).toEqual([0, 'deployment.apps/web scaled\n', 3])
    },
  )

  it('tries for five minutes, and then tells why not', async () => {
    const { end, environment, written, tries } = scaling(
      '--replicas=3',
      () => {
        throw conflict()
      },
      () => ({ spec: 1, status: 1 }),
    )
    await vi.waitFor(() => expect(tries()).toBe(1), patience)
    await environment.clock.advance('5m')
    expect([await end, tries()]).toEqual([1, 301])
    expect(written.stderr).toContain('the object has been modified')
  })

  it('holds to its conditions where it tries again', async () => {
    const { end, environment, written, tries } = scaling(
      '--replicas=3 --current-replicas=1',
      () => {
        throw conflict()
      },
      (tries) => ({ spec: tries === 0 ? 1 : 5, status: 1 }),
    )
    await vi.waitFor(() => expect(tries()).toBe(1), patience)
    await environment.clock.advance('1s')
    expect([await end, written.stderr]).toEqual([1, 'error: Expected replicas to be 1, was 5\n'])
  })

  it('prints the replicas that the server gave it, and the rest as it was', async () => {
    const { end, written } = scaling(
      '--replicas=3 -o json',
      () => 2,
      () => ({ spec: 2, status: 1 }),
    )
    expect(await end).toBe(0)
    expect(JSON.parse(written.stdout)).toMatchObject({ spec: { replicas: 2, paused: true } })
  })

  it('waits no longer where somebody else asks for other replicas', async () => {
    const { end, environment, written } = scaling(
      '--replicas=3 --timeout=1m',
      () => 3,
      () => ({ spec: 5, status: 1 }),
    )
    await vi.waitFor(() => expect(written.stdout).not.toBe(''), patience)
    await environment.clock.advance('1s')
    expect([await end, written.stdout]).toEqual([0, 'deployment.apps/web scaled\n'])
  })
})
