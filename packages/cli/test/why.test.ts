import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployments, type Pod, pods } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../src/testing/recording-host.ts'

describe('coracle why', () => {
  let directory: string
  let cluster: Cluster
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'why-'))
    cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory' })
    await create('web')
    await create('lost', { nodeSelector: { disk: 'none' } })
    await podOf('lost', ({ status }) => status?.conditions?.some(({ type }) => type === 'PodScheduled') === true)
  })
  afterAll(async () => {
    await cluster.stop()
    await rm(directory, { recursive: true, force: true })
  })
  const coracle = (...args: readonly string[]) => runCommand(args, { workingDirectory: directory })

  const create = (name: string, podSpec: object = {}) =>
    cluster.client.create(
      deployments,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, namespace: 'default' },
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: { containers: [{ name: 'main', image: 'nginx' }], ...podSpec },
          },
        },
      } as never,
      { fieldManager: 'kubectl-create' },
    )

  /** The pod of a deployment, once its status is as wanted. */
  const podOf = async (app: string, isWanted: (pod: Pod) => boolean): Promise<string> => {
    const watch = await cluster.client.watch<Pod>(pods, { namespace: 'default', labelSelector: `app=${app}` })
    for await (const { type, object } of watch) {
      if (type !== 'ADDED' && type !== 'MODIFIED') continue
      if (!isWanted(object)) continue
      watch.close()
      return object.metadata.name ?? ''
    }
    throw new Error('the watch has ended')
  }
  const isReady = ({ status }: Pod) =>
    status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

  it('leads from a pod back to who made its Deployment', async () => {
    const name = await podOf('web', isReady)
    const { code, stdout, stderr } = await coracle('why', `pod/${name}`)
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toBe(`pod/${name}: nothing holds it up`)
    expect(lines[2]).toMatch(/^REVISION +AGE +WHAT +WHO +WHY$/)
    const told = (pattern: RegExp) => expect(lines.some((line) => pattern.test(line))).toBe(true)
    told(/pod\/web-\S+ changed \(status\) +kubelet +.*container main started/)
    told(
      /pod\/web-\S+ changed \(binding\) +default-scheduler +1 of 1 nodes looked at can take it, node-0 suits it best/,
    )
    told(/pod\/web-\S+ created +replicaset-controller +replicaset\/web-\S+: 0 of 1 replicas exist/)
    told(/deployment\/web created +kubernetes-admin +asked for, with kubectl-create$/)
  })

  it('says what holds an object up, and what would help', async () => {
    const { stdout } = await coracle('why', 'deployment', 'lost')
    expect(stdout).toMatch(
      /^deployment\/lost ← pod\/lost-\S+: no node takes it\n {2}0\/1 nodes are available: .*\n {2}→ label a node disk=none/,
    )
  })

  it('is data on request', async () => {
    const { stdout } = await coracle('why', 'deployment/lost', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      object: { kind: 'Deployment', name: 'lost' },
      verdict: 'stuck',
      findings: [{ because: expect.stringContaining('0/1 nodes') }],
      changes: expect.arrayContaining([
        expect.objectContaining({ who: expect.objectContaining({ user: 'kubernetes-admin' }) }),
      ]),
    })
  })

  it('tells of what is gone, and says so of what never was', async () => {
    await create('short')
    const name = await podOf('short', isReady)
    await cluster.client.delete(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 })
    const { code, stdout } = await coracle('why', `pod/${name}`)
    expect([code, stdout.split('\n')[0]]).toEqual([0, `pod/${name}: it is gone`])
    expect(stdout).toMatch(new RegExp(`pod/${name} gone +kubernetes-admin`))
    expect(await coracle('why', 'pod/never')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'error: pods "never" not found, and the record has nothing of it: a request that was refused leaves nothing behind\n',
    })
  })

  it('refuses an output it does not have, and a kind without a name', async () => {
    expect((await coracle('why', 'pod/web', '-o', 'wide')).stderr).toBe(
      'error: unknown output format "wide": use json or yaml, or leave -o out\n',
    )
    expect((await coracle('why', 'pods')).stderr).toBe('error: name one: coracle why pod/NAME\n')
  })
})
