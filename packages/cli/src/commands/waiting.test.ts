import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMaps, deployments, type Pod, pods } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../program.ts'
import { recordingHost, runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waiting-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', runtime: 'simulated' })
})

afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const coracle = (command: string) => runCommand(command.split(' '), { workingDirectory: directory })

const containers = [{ name: 'main', image: 'example/web' }]

const podNamed = (name: string, metadata: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { name }, ...metadata },
    spec: { nodeName: 'node-0', terminationGracePeriodSeconds: 0, containers },
  }) as Pod

describe('a command that needs a pod of an object', () => {
  const create = (name: string) =>
    cluster.client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: 'default' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers } },
      },
    })

  it('waits until there is one', async () => {
    await create('late')
    const reading = coracle('logs deployment/late --pod-running-timeout=30s')
    await cluster.client.patch(
      deployments,
      { name: 'late', namespace: 'default' },
      { type: 'merge', body: { spec: { replicas: 1 } } },
    )
    // The pod may still have nothing to read: it was found.
    expect((await reading).stderr).not.toContain('timed out')
  })

  it.each(['logs deployment/never', 'attach deployment/never', 'port-forward deployment/never 80'])(
    'gives up when none has come in time: %s',
    async (command) => {
      await create('never').catch(() => {})
      expect(await coracle(`${command} --pod-running-timeout=20ms`)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'error: timed out waiting for the condition\n',
      })
    },
  )

  it('takes no time that is none', async () => {
    expect((await coracle('logs deployment/late --pod-running-timeout=0s')).stderr).toBe(
      'error: --pod-running-timeout must be higher than zero\n',
    )
  })
})

describe('wait --for=delete', () => {
  it('tells of all that were found, also of those that go while it waits for others', async () => {
    const names = ['first', 'second']
    for (const name of names) {
      await cluster.client.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name, labels: { goes: 'soon' } },
      })
    }
    const host = recordingHost({ workingDirectory: directory })
    const waiting = run('wait configmap -l goes=soon --for=delete -v 6'.split(' '), host)
    await expect.poll(() => host.written.stderr).toContain('watch=true')
    for (const name of names.toReversed()) await cluster.client.delete(configMaps, { namespace: 'default', name })
    expect(await waiting).toBe(0)
    expect(host.written.stdout).toBe('configmap/first condition met\nconfigmap/second condition met\n')
  })

  it('says nothing of what is named and not there', async () => {
    expect(await coracle('wait configmap/none --for=delete')).toEqual({ code: 0, stdout: '', stderr: '' })
  })
})

describe('wait for several conditions', () => {
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] }
  const readyPod = 'wait pod/several --for=condition=Ready --for=jsonpath={.status.phase}=Running --for=create'
  const become = (status: object) =>
    cluster.client.patch(
      pods,
      { name: 'several', namespace: 'default' },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    )

  it('waits for creation first, then for each of the others, and tells of each', async () => {
    const host = recordingHost({ workingDirectory: directory })
    const waiting = run([...readyPod.split(' '), '-v', '6'], host)
    await expect.poll(() => host.written.stderr).toContain('watch=true')
    await cluster.client.create(pods, { ...podNamed('several'), spec: { containers, schedulerName: 'none' } } as Pod)
    await expect.poll(() => host.written.stdout).toBe('pod/several condition met\n')
    await become(ready)
    await expect.poll(() => host.written.stdout).toBe('pod/several condition met\n'.repeat(2))
    await become({ ...ready, phase: 'Running' })
    expect(await waiting).toBe(0)
    expect(host.written.stdout).toBe('pod/several condition met\n'.repeat(3))
  })

  it('ends at the first that does not come', async () => {
    const never = '--for=condition=Never --for=create --timeout=0s'
    expect(await coracle(`wait pod/several ${never}`)).toEqual({
      code: 1,
      stdout: 'pod/several condition met\n',
      stderr: 'error: condition not met for pods/several\n',
    })
  })

  it('needs each to be one', async () => {
    expect((await coracle('wait pod/several --for=create --for=nothing')).stderr).toBe(
      'error: unrecognized condition: "nothing"\n',
    )
    expect((await coracle('wait pod/several')).stderr).toBe('error: unrecognized condition: []\n')
  })
})

describe('wait --for=create', () => {
  it('tells of one type that may not be looked at, whatever becomes of others', async () => {
    const line = 'wait configmap,secret -l never=there --for=create --timeout=1s --as=nobody'
    expect(await coracle(line)).toMatchObject({ code: 1, stderr: expect.stringContaining('(Forbidden)') })
  })
})

describe('wait --local', () => {
  const conditions = [{ type: 'Ready', status: 'True' }]
  const write = (name: string, status: object) =>
    writeFile(join(directory, name), JSON.stringify({ ...podNamed('filed'), status }))

  it.each<[string, string, object, number]>([
    ['a condition that holds', '--for=condition=Ready', { conditions }, 0],
    ['a condition that does not', '--for=condition=Ready', {}, 1],
    ['a value that is there', '--for=jsonpath={.status.phase}=Running', { phase: 'Running' }, 0],
    ['a value that is another', '--for=jsonpath={.status.phase}=Running', { phase: 'Pending' }, 1],
    ['a value but for space around it', '--for=jsonpath={.status.reason}=so', { reason: ' so\n' }, 0],
    ['being there', '--for=create', {}, 0],
    ['being gone', '--for=delete', {}, 1],
  ])('judges what a file says: %s', async (_, condition, status, code) => {
    await write('pod.json', status)
    const server = '--server=http://127.0.0.1:1'
    const outcome = await coracle(`wait --local -f pod.json ${condition} ${server}`)
    expect(outcome).toEqual(
      code === 0
        ? { code, stdout: 'pod/filed condition met\n', stderr: '' }
        : { code, stdout: '', stderr: 'error: the condition is not met by pods/filed, and files do not change\n' },
    )
  })

  it('takes objects of files only', async () => {
    expect((await coracle('wait --local pod/web --for=create')).stderr).toBe(
      "error: you must specify resources by --filename when --local is set.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n",
    )
  })
})

it('drain leaves a pod behind that has been on its way out for too long', async () => {
  await cluster.client.create(pods, podNamed('held', { finalizers: ['example.com/hold'] }))
  const flags = '--force --pod-selector=name=held --skip-wait-for-delete-timeout=1'
  const first = await coracle(`drain node-0 ${flags}`)
  expect([first.code, first.stdout]).toEqual([
    0,
    'node/node-0 cordoned\nevicting pod default/held\npod "held" has DeletionTimestamp older than 1 seconds, skipping\nnode/node-0 drained\n',
  ])
  const second = await coracle(`drain node-0 ${flags}`)
  expect([second.code, second.stdout]).toEqual([0, 'node/node-0 already cordoned\nnode/node-0 drained\n'])
})

it('drain tells of pods that it deletes, and does not evict, once they are gone', async () => {
  await coracle('uncordon node-0')
  await cluster.client.create(pods, podNamed('deleted'))
  const flags = '--force --pod-selector=name=deleted --disable-eviction'
  const tried = await coracle(`drain node-0 ${flags} --dry-run=client`)
  expect(tried.stdout).toContain('evicting pod default/deleted (dry run)\n')
  const drained = await coracle(`drain node-0 ${flags}`)
  expect([drained.code, drained.stdout]).toEqual([
    0,
    'node/node-0 cordoned\npod/deleted deleted\nnode/node-0 drained\n',
  ])
})

it('rollout undo warns that what was applied is not', async () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { selector: { matchLabels: { app: 'a' } }, template }
  const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'applied' }, spec }
  await writeFile(join(directory, 'applied.json'), JSON.stringify(applied))
  await coracle('apply -f applied.json')
  await coracle('set image deployment/applied c=j')
  const undone = await coracle('rollout undo deployment/applied --dry-run=client')
  expect(undone.stderr).toBe(
    "Warning: resource deployments/applied was previously managed with 'coracle apply'. Rolling back will not update the kubectl.kubernetes.io/last-applied-configuration annotation, which may cause unexpected behavior on future 'coracle apply' operations. Consider using 'coracle apply' with your previous configuration file instead.\n",
  )
})
