import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError, type Node, nodes, type Pod, pods } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { createLogger, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isCritical } from '../admission/preemption.ts'
import { apiWaitMaxMs, createKubelet } from '../kubelet.ts'
import type { PodContext } from '../pod/pod-context.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { followManifests, manifestsCheckMs } from './follow-manifests.ts'
import { staticPodOf } from './static-pod.ts'
import { StaticPods } from './static-pods.ts'

const manifest = (name = 'web', image = 'nginx:1') => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
  - name: web
    image: ${image}
`

const key = { namespace: 'default', name: 'web-node-a' }

/** A node that is given pods in a directory, unless that is none. */
function node({ isGiven = true }: { readonly isGiven?: boolean } = {}) {
  const logged: string[] = []
  const environment = virtualEnvironment({ logger: createLogger(({ message }) => logged.push(message)) })
  const api = createFakeClient(environment)
  const directory = join(temporaryDirectory(), 'manifests')
  mkdirSync(directory)
  const runtime = createSimulatedRuntime({ environment })
  const options = { client: api, environment, nodeName: 'node-a', runtime }
  const open = () => createKubelet({ ...options, ...(isGiven ? { manifestPath: directory } : {}) })
  const kubelet = open()
  onTestFinished(() => kubelet.stop({ containers: 'keep' }))
  const { clock } = environment
  const start = async (agent = kubelet) => {
    const started = agent.start()
    await clock.settle()
    await started
    await clock.settle()
  }
  /** Another agent after this one. */
  const startAgain = async () => {
    await kubelet.stop({ containers: 'keep' })
    const again = open()
    onTestFinished(() => again.stop({ containers: 'keep' }))
    await start(again)
  }
  const put = (text: string, name = 'web.yaml') => writeFileSync(join(directory, name), text)
  const remove = (name = 'web.yaml') => rmSync(join(directory, name))
  /** Has the directory read again. */
  const look = () => clock.advance(manifestsCheckMs)
  const mirrors = () => api.stored<Pod>(pods)
  const running = async () =>
    (await runtime.listContainers()).filter(({ state }) => state === 'running').map(({ id, image }) => `${id} ${image}`)
  return {
    api,
    clock,
    directory,
    kubelet,
    logged,
    look,
    mirrors,
    open,
    put,
    remove,
    running,
    runtime,
    start,
    startAgain,
  }
}

describe('a pod that a node is given in a file', () => {
  it('runs, and its mirror shows how it is', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    const [mirror] = test.mirrors()
    const { uid: nodeUid } = (await test.api.get<Node>(nodes, { name: 'node-a' })).metadata
    expect(mirror?.metadata).toMatchObject({
      ...key,
      annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.seen': '2026-01-01T00:00:00Z' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: nodeUid, controller: true }],
    })
    const { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.mirror': mirrored } =
      mirror?.metadata.annotations ?? {}
    expect(mirrored).toBe(hash)
    expect(mirror?.spec).toMatchObject({
      nodeName: 'node-a',
      restartPolicy: 'Always',
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    })
    expect(mirror?.spec.priority).toBeUndefined()
    expect(mirror?.status).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'web', ready: true }] })
    expect((await test.runtime.listPodSandboxes()).map(({ podUid }) => podUid)).toEqual([hash])
    expect(test.kubelet.pods().map(({ metadata }) => metadata.uid)).toEqual([hash])
  })

  it('runs on where somebody deletes the mirror, and gets another', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    const [before] = test.mirrors()
    const runs = await test.running()
    await test.api.delete(pods, key)
    await test.clock.settle()
    const [after] = test.mirrors()
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid)
    expect(after?.status?.phase).toBe('Running')
    expect(await test.running()).toEqual(runs)
  })

  it('ends with its file where it has no mirror', async () => {
    const test = node()
    test.put(manifest())
    test.api.intercept(async ({ plural, verb }) => {
      if (plural === 'pods' && verb === 'create') throw new Error('the API is away')
    })
    await test.start()
    test.remove()
    await test.look()
    expect([await test.running(), await test.runtime.listPodSandboxes()]).toEqual([[], []])
  })

  it('ends with its file, and its mirror with it', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    test.remove()
    await test.look()
    expect([await test.running(), await test.runtime.listPodSandboxes(), test.mirrors()]).toEqual([[], [], []])
  })

  it('is another where its file says something else, and comes when the one before has ended', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    const [before] = test.mirrors()
    test.put(manifest('web', 'nginx:2'))
    await test.look()
    const [after, ...others] = test.mirrors()
    expect(others).toEqual([])
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid)
    expect(after?.spec.containers[0]?.image).toBe('nginx:2')
    expect(after?.status?.phase).toBe('Running')
    expect(await test.running()).toEqual([expect.stringContaining('nginx:2')])
    expect(await test.runtime.listPodSandboxes()).toHaveLength(1)
  })

  it('goes on where its file goes and comes back before it has ended, as another', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    test.remove()
    await test.look()
    test.put(manifest())
    await test.look()
    expect(await test.running()).toHaveLength(1)
    expect(test.mirrors()[0]?.status?.phase).toBe('Running')
  })

  it('runs though the API takes no mirror, and gets one when it does', async () => {
    const test = node()
    test.put(manifest())
    let isRefused = true
    test.api.intercept(async ({ plural, verb }) => {
      if (isRefused && plural === 'pods' && verb === 'create') throw new Error('the API is away')
    })
    await test.start()
    expect([await test.running(), test.mirrors()]).toMatchObject([{ length: 1 }, []])
    expect(test.logged).toContain('the mirror of a static pod is not as it is to be')
    isRefused = false
    await test.clock.advance('1s')
    expect(test.mirrors()[0]?.status?.phase).toBe('Running')
  })

  describe('where the API is away as its agent starts', () => {
    /** All requests fail until `answer` is called. */
    const cutOff = (test: ReturnType<typeof node>, fail: () => Promise<void> = refuse) => ({
      answer: test.api.intercept(fail),
    })
    const refuse = async () => {
      throw new Error('connect ECONNREFUSED')
    }

    it('runs all the same, and has its mirror when the API answers', async () => {
      const test = node()
      test.put(manifest())
      const { answer } = cutOff(test)
      const started = test.kubelet.start()
      await test.clock.settle()
      expect(await test.running()).toEqual([expect.stringContaining('nginx:1')])
      const runs = await test.running()
      answer()
      await test.clock.advance(10_000)
      await started
      await test.clock.settle()
      expect(test.mirrors().map(({ status }) => status?.phase)).toEqual(['Running'])
      expect(await test.running()).toEqual(runs)
    })

    it('runs where the API says nothing for long', async () => {
      const test = node()
      test.put(manifest())
      cutOff(test, () => new Promise(() => {}))
      void test.kubelet.start().catch(() => {})
      await test.clock.settle()
      expect(await test.running()).toEqual([])
      await test.clock.advance(apiWaitMaxMs)
      expect(await test.running()).toHaveLength(1)
    })

    it('runs where the API knows nobody yet, and its node is registered later', async () => {
      const test = node()
      test.put(manifest())
      const { answer } = cutOff(test, async () => {
        throw new ApiError(403, 'Forbidden', 'not yet')
      })
      const started = test.kubelet.start()
      await test.clock.settle()
      expect(await test.running()).toHaveLength(1)
      answer()
      await test.clock.advance(10_000)
      await started
      expect(test.logged.filter((line) => line.includes('not registered'))).toHaveLength(1)
    })

    it('is taken up as it runs, and its mirror of before with it; nothing else that runs ends for want of a list', async () => {
      const test = node()
      test.put(manifest())
      await test.api.create(pods, testPod({}, { metadata: { name: 'api' } }))
      await test.start()
      const [[mirror], runs] = [test.mirrors(), await test.running()]
      expect(runs).toHaveLength(2)
      await test.kubelet.stop({ containers: 'keep' })
      const { answer } = cutOff(test)
      const again = test.open()
      const started = again.start()
      await test.clock.advance(60_000)
      expect(await test.running()).toEqual(runs)
      answer()
      await test.clock.advance(10_000)
      await started
      await test.clock.settle()
      expect(await test.running()).toEqual(runs)
      expect(test.mirrors().map(({ metadata }) => metadata.uid)).toContain(mirror?.metadata.uid)
    })
  })

  it('is taken up by a node agent that is started anew, with its mirror', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    const [mirror, runs] = [test.mirrors()[0], await test.running()]
    await test.clock.advance('1m')
    await test.startAgain()
    expect(test.mirrors().map(({ metadata }) => metadata.uid)).toEqual([mirror?.metadata.uid])
    expect(await test.running()).toEqual(runs)
  })

  it('ends where its file went while no agent was there', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    test.remove()
    await test.startAgain()
    expect([test.mirrors(), await test.running()]).toEqual([[], []])
  })

  it('is none where the manifest is none, which is told once, and others run', async () => {
    const test = node()
    test.put(manifest())
    test.put('kind: Pod', 'broken.yaml')
    test.put(manifest('web'), 'again.yaml')
    test.put(manifest('hidden'), '.hidden.yaml')
    mkdirSync(join(test.directory, 'deeper'))
    await test.start()
    await test.look()
    expect(test.mirrors().map(({ metadata }) => metadata.name)).toEqual(['web-node-a'])
    expect(test.logged.filter((each) => each === 'a manifest is of no pod that can be run')).toHaveLength(2)
  })
})

/** Static pods without a node, and what is to be run of them. */
function alone() {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const given: string[] = []
  const last: { context?: PodContext | undefined } = {}
  const statics = new StaticPods({
    ...{ client, environment, nodeName: 'node-a', context: {} as PodContext },
    manager: {
      setPod({ metadata, spec }, context) {
        // The node does not let it go for others.
        expect(isCritical({ metadata, spec } as Pod)).toBe(true)
        given.push(`${metadata.uid}${metadata.deletionTimestamp === undefined ? '' : ' ends'}`)
        last.context = context
      },
      removePod: ({ metadata }) => given.push(`${metadata.uid} has ended`),
    },
  })
  onTestFinished(() => statics.stop())
  return { statics, client, environment, given, last }
}

it('a file that is being written keeps its pod, unless it still says nothing when all are read again', async () => {
  const path = temporaryDirectory()
  const file = join(path, 'web.yaml')
  writeFileSync(file, manifest())
  const environment = virtualEnvironment()
  const sets: string[][] = []
  let heard = Promise.withResolvers<void>()
  const set = (wanted: readonly Pod[]) => {
    sets.push(wanted.map(({ spec }) => spec.containers[0]?.image ?? ''))
    heard.resolve()
  }
  const followed = await followManifests(path, 'node-a', environment, { set }, true)
  onTestFinished(() => followed.close())
  const write = async (text: string) => {
    heard = Promise.withResolvers()
    writeFileSync(file, text)
    await heard.promise
    await environment.clock.settle()
    return sets.at(-1)
  }
  expect(sets).toEqual([['nginx:1']])
  expect(await write('')).toEqual(['nginx:1'])
  expect(await write(manifest('web', 'nginx:2'))).toEqual(['nginx:2'])
  expect(await write('apiVersion: v1\nkind: P')).toEqual(['nginx:2'])
  await environment.clock.advance(manifestsCheckMs)
  expect(sets.at(-1)).toEqual([])
})

it('what a file says now begins as soon as what it said before has ended', async () => {
  const { statics, given, last } = alone()
  statics.set([testPod({}, { metadata: { uid: 'first' } })])
  statics.set([testPod({}, { metadata: { uid: 'second' } })])
  expect(given).toEqual(['first', 'first ends'])
  await last.context?.client.delete(pods, { namespace: 'default', name: 'web' })
  expect(given.slice(2)).toEqual(['first has ended', 'second'])
})

it('nobody waits who deletes a mirror', async () => {
  const { statics, client, environment } = alone()
  statics.seeMirrors()
  const mirror = await client.create(
    pods,
    testPod({}, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'a' } } }),
  )
  statics.set([testPod({}, { metadata: { uid: 'a' } })])
  statics.mirrorSet(mirror)
  await environment.clock.settle()
  expect(client.stored(pods)).toHaveLength(1)
  statics.mirrorSet({ ...mirror, metadata: { ...mirror.metadata, deletionTimestamp: '2026-01-01T00:00:30Z' } })
  await environment.clock.settle()
  expect(client.stored(pods)).toEqual([])
})

describe('a mirror of no pod', () => {
  const orphan = testPod(
    {},
    { metadata: { name: 'old-node-a', annotations: { 'kubernetes.io/config.mirror': 'gone' } } },
  )

  it.each([true, false])('is removed, and not run: where the node is given pods: %s', async (isGiven) => {
    const test = node({ isGiven })
    await test.api.create(pods, orphan)
    await test.start()
    expect([test.mirrors(), await test.running()]).toEqual([[], []])
  })

  it('is not shown what is of another pod, though it says to be that one', async () => {
    const test = node()
    test.put(manifest())
    await test.start()
    const hash = test.mirrors()[0]?.metadata.annotations?.['kubernetes.io/config.hash'] ?? ''
    const thief = testPod({}, { metadata: { name: 'thief', annotations: { 'kubernetes.io/config.mirror': hash } } })
    test.api.intercept(async ({ plural, verb }) => {
      if (plural === 'pods' && verb === 'delete') throw new Error('the API is away')
    })
    const made = await test.api.create(pods, thief)
    await test.clock.settle()
    await expect(test.kubelet.portForward(made)).rejects.toThrow()
    expect(test.kubelet.pods().map(({ metadata }) => metadata.uid)).toContain(made.metadata.uid)
  })
})

describe('a manifest', () => {
  const origin = { nodeName: 'node-a', path: '/etc/pods/web.yaml', seenAt: '2026-01-01T00:00:00Z' }
  const given = (spec: object = {}, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', ...metadata },
    spec: { containers: [{ name: 'web', image: 'nginx:1' }], ...spec },
  })

  it('is of the same pod as long as it says the same, at the same place', () => {
    const uidOf = (manifest: object, more: object = {}) =>
      staticPodOf(manifest, { ...origin, ...more }).metadata.uid ?? ''
    expect(uidOf(given())).toBe(uidOf(given(), { seenAt: '2027-01-01T00:00:00Z' }))
    expect(uidOf(given())).not.toBe(uidOf(given({ restartPolicy: 'Never' })))
    expect(uidOf(given())).not.toBe(uidOf(given(), { path: '/other' }))
    expect(uidOf(given())).not.toBe(uidOf(given(), { nodeName: 'b' }))
    expect(uidOf(given({}, { uid: 'own' }))).toBe('own')
  })

  it('has a name of its node, and the namespace that it names', () => {
    expect(staticPodOf(given(), origin).metadata).toMatchObject({ name: 'web-node-a', namespace: 'default' })
    expect(staticPodOf(given({}, { namespace: 'kube-system' }), origin).metadata.namespace).toBe('kube-system')
  })

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'it is no Pod of v1'],
    ['another kind', { ...given(), kind: 'Deployment' }, 'it is no Pod of v1'],
    ['no name', given({}, { name: '' }), 'metadata.name: Required value'],
    ['no containers', given({ containers: [] }), 'spec.containers: Required value'],
    ['a bad name', given({}, { name: 'A_b' }), 'metadata.name: Invalid value'],
    [
      'a Secret',
      given({ volumes: [{ name: 's', secret: { secretName: 's' } }] }),
      'static pods may not reference secrets',
    ],
    [
      'a ConfigMap',
      given({ containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name: 'c' } }] }] }),
      'static pods may not reference configmaps',
    ],
    ['an account', given({ serviceAccountName: 'a' }), 'static pods may not reference serviceaccounts'],
    [
      'a claim',
      given({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
      'static pods may not reference persistentvolumeclaims',
    ],
  ])('is none with %s', (_, manifest, message) => {
    expect(() => staticPodOf(manifest, origin)).toThrow(message)
  })
})
