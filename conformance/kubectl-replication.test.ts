import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ControllerObject,
  controller,
  type EventObject,
  Kubectl,
  type PodObject,
  pod,
  rows,
  uids,
} from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `replication-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

const pods = (kubectl: Kubectl, labelSelector?: string) => kubectl.list<PodObject>('pods', labelSelector)

/** A controller with all its pods ready. */
async function started(kubectl: Kubectl, name: string, replicas: number): Promise<readonly PodObject[]> {
  await kubectl.create('replicationcontrollers', controller(name, replicas))
  await kubectl.waitForReplicas(name, replicas)
  return pods(kubectl, `app=${name}`)
}

/** Waits until there are exactly this many pods and all of them run. */
const settled = (kubectl: Kubectl, count: number, labelSelector?: string) =>
  eventually(`${count} running pods`, async () => {
    const found = await pods(kubectl, labelSelector)
    return found.length === count && found.every(({ status }) => status.phase === 'Running') && found
  })

/** The one of several that was asked for by position. */
function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new Error(`there are only ${items.length}`)
  return item
}

describe('a ReplicationController', () => {
  it('keeps exactly N pods of its template', async () => {
    const kubectl = await inNewNamespace()
    const made = await started(kubectl, 'web', 3)
    expect(made).toHaveLength(3)
    for (const { metadata, status } of made) {
      expect(metadata.name).toMatch(/^web-[a-z0-9]{5}$/)
      expect(metadata.labels).toEqual({ app: 'web' })
      expect(metadata.ownerReferences).toMatchObject([{ kind: 'ReplicationController', name: 'web', controller: true }])
      expect(status.phase).toBe('Running')
    }
    expect(rows(await kubectl.ok(['get', 'rc']))).toMatchObject([
      ['NAME', 'DESIRED', 'CURRENT', 'READY', 'AGE'],
      ['web', '3', '3', '3', expect.any(String)],
    ])
  })

  it('has pods on every node when it has several', async () => {
    const kubectl = await inNewNamespace()
    // More than what other tests may have left on one of them.
    const made = await started(kubectl, 'web', 30)
    expect(new Set(made.map(({ spec }) => spec.nodeName))).toEqual(new Set(['node-0', 'node-1']))
  })

  it('replaces a pod that was deleted', async () => {
    const kubectl = await inNewNamespace()
    const [first, ...others] = await started(kubectl, 'web', 3)
    await kubectl.ok(['delete', 'pod', first?.metadata.name ?? ''])
    const after = uids(await settled(kubectl, 3))
    expect(after).toEqual(expect.arrayContaining([...uids(others)]))
    expect(after).not.toContain(first?.metadata.uid)
  })

  it('releases a pod relabelled out of its selector, which keeps running, and replaces it', async () => {
    const kubectl = await inNewNamespace()
    const before = await started(kubectl, 'web', 2)
    const aside = at(before, 0)
    await kubectl.ok(['label', 'pod', aside.metadata.name, 'app=debug', '--overwrite'])
    await settled(kubectl, 2, 'app=web')
    const released = await kubectl.get<PodObject>('pods', aside.metadata.name)
    expect(released.metadata.uid).toBe(aside.metadata.uid)
    expect(released.metadata.ownerReferences).toBeUndefined()
    expect(released.status).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 0, ready: true }] })
    expect(await pods(kubectl)).toHaveLength(3)
  })

  it('takes a pod back that gets its label again, and has one pod too many then', async () => {
    const kubectl = await inNewNamespace()
    const aside = at(await started(kubectl, 'web', 2), 0)
    await kubectl.ok(['label', 'pod', aside.metadata.name, 'app-'])
    await settled(kubectl, 2, 'app=web')
    await kubectl.ok(['label', 'pod', aside.metadata.name, 'app=web'])
    await eventually('two pods again, all of the controller', async () => {
      const found = await pods(kubectl)
      return found.length === 2 && found.every(({ metadata }) => metadata.ownerReferences?.[0]?.name === 'web')
    })
  })

  it('adopts pods without an owner that match', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create(
      'pods',
      pod('orphan', { labels: { app: 'web' } }),
      pod('stranger', { labels: { app: 'other' } }),
    )
    await eventually('running pods', async () =>
      (await pods(kubectl)).every(({ status }) => status.phase === 'Running'),
    )
    const orphan = await kubectl.get('pods', 'orphan')
    await started(kubectl, 'web', 1)
    const { metadata } = await kubectl.get('replicationcontrollers', 'web')
    const owned = await pods(kubectl, 'app=web')
    expect(uids(owned)).toEqual(uids([orphan]))
    expect(owned[0]?.metadata.ownerReferences).toMatchObject([{ name: 'web', uid: metadata.uid, controller: true }])
    expect((await kubectl.get('pods', 'stranger')).metadata.ownerReferences).toBeUndefined()
  })

  it('touches no pod when its template changes: only those made later follow it', async () => {
    const kubectl = await inNewNamespace()
    const before = await started(kubectl, 'web', 2)
    await kubectl.ok([
      'patch',
      'rc/web',
      '--patch',
      '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"example/web:2"}]}}}}',
    ])
    await kubectl.ok(['scale', 'rc/web', '--replicas=3'])
    await kubectl.waitForReplicas('web', 3)
    const after = await pods(kubectl)
    const kept = after.filter(({ metadata }) => uids(before).includes(metadata.uid))
    expect(kept.map(({ spec }) => spec.containers[0]?.image)).toEqual(['example/web:1', 'example/web:1'])
    const made = after.filter(({ metadata }) => !uids(before).includes(metadata.uid))
    expect(made.map(({ spec }) => spec.containers[0]?.image)).toEqual(['example/web:2'])
  })

  it('never fights another one over a pod, even with the same selector', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create(
      'replicationcontrollers',
      controller('left', 2, { app: 'shared' }),
      controller('right', 2, { app: 'shared' }),
    )
    await Promise.all(['left', 'right'].map((name) => kubectl.waitForReplicas(name, 2)))
    const ownedBy = (found: readonly PodObject[], name: string) =>
      found.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name))
    const before = await pods(kubectl)
    expect([before.length, ownedBy(before, 'left').length, ownedBy(before, 'right').length]).toEqual([4, 2, 2])

    await kubectl.ok(['delete', 'pod', at(ownedBy(before, 'left'), 0).metadata.name])
    const after = await settled(kubectl, 4)
    expect(ownedBy(after, 'left')).toHaveLength(2)
    expect(uids(ownedBy(after, 'right'))).toEqual(uids(ownedBy(before, 'right')))
    const events = await kubectl.list<EventObject>('events')
    expect(events.map(({ reason }) => reason)).not.toContain('SuccessfulDelete')
    const creations = events.filter(({ reason }) => reason === 'SuccessfulCreate')
    expect(creations.filter(({ involvedObject }) => involvedObject.name === 'right')).toHaveLength(2)
  })

  it('leaves its pods with --cascade=orphan, and the next one with that selector adopts them', async () => {
    const kubectl = await inNewNamespace()
    const before = await started(kubectl, 'web', 2)
    await kubectl.ok(['delete', 'rc', 'web', '--cascade=orphan'])
    const left = await pods(kubectl)
    expect(uids(left)).toEqual(uids(before))
    for (const { metadata } of left) expect(metadata.ownerReferences).toBeUndefined()

    await kubectl.create('replicationcontrollers', controller('heir', 2, { app: 'web' }))
    await kubectl.waitForReplicas('heir', 2)
    const adopted = await pods(kubectl)
    expect(uids(adopted)).toEqual(uids(before))
    for (const { metadata } of adopted) expect(metadata.ownerReferences).toMatchObject([{ name: 'heir' }])
  })

  it('replaces a pod that failed', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.ok(['cordon', 'node-0', 'node-1'])
    try {
      // A pod on no node has no agent that says what it is doing, so its status is what the test writes.
      await kubectl.create('replicationcontrollers', controller('web', 1))
      const failing = await eventually('a pod', async () => (await pods(kubectl))[0])
      const patch = '{"status":{"phase":"Failed"}}'
      await kubectl.ok(['patch', 'pod', failing.metadata.name, '--subresource=status', '-p', patch])
      await eventually('another pod', async () =>
        (await pods(kubectl)).some(({ status }) => status.phase === 'Pending'),
      )
      expect((await kubectl.get<ControllerObject>('replicationcontrollers', 'web')).spec.replicas).toBe(1)
    } finally {
      await kubectl.ok(['uncordon', 'node-0', 'node-1'])
    }
    await kubectl.waitForReplicas('web', 1)
  })

  it('deletes pods that do not run before pods that do', async () => {
    const kubectl = await inNewNamespace()
    const running = await started(kubectl, 'web', 2)
    await kubectl.ok(['cordon', 'node-0', 'node-1'])
    try {
      await kubectl.ok(['scale', 'rc/web', '--replicas=4'])
      await eventually('four pods', async () => (await pods(kubectl)).length === 4)
      await kubectl.ok(['scale', 'rc/web', '--replicas=2'])
      await eventually('two pods', async () => (await pods(kubectl)).length === 2)
      expect(uids(await pods(kubectl))).toEqual(uids(running))
    } finally {
      await kubectl.ok(['uncordon', 'node-0', 'node-1'])
    }
  })

  it('refuses a template that may end, and one that its selector does not match', async () => {
    const kubectl = await inNewNamespace()
    const refused = async (patch: string) => {
      const object = JSON.stringify(controller('web', 1)).replace(
        '"spec":{"containers"',
        `"spec":{${patch}"containers"`,
      )
      return kubectl.run(['create', '-f', '-'], { input: object })
    }
    const ending = await refused('"restartPolicy":"Never",')
    expect(ending.code).toBe(1)
    expect(ending.stderr).toContain(
      'The ReplicationController "web" is invalid: spec.template.spec.restartPolicy: ' +
        'Unsupported value: "Never": supported values: "Always"',
    )
    const input = JSON.stringify(controller('web', 1)).replace('"selector":{"app":"web"}', '"selector":{"app":"x"}')
    const unmatched = await kubectl.run(['create', '-f', '-'], { input })
    expect(unmatched.code).toBe(1)
    expect(unmatched.stderr).toMatch(
      /The ReplicationController "web" is invalid: spec\.template\.metadata\.labels: Invalid value: .*`selector` does not match template `labels`/,
    )
  })
})

describe('scale', () => {
  it('changes how many there are, up and down to none', async () => {
    const kubectl = await inNewNamespace()
    const before = await started(kubectl, 'web', 1)
    expect(await kubectl.ok(['scale', 'rc/web', '--replicas=3'])).toBe('replicationcontroller/web scaled\n')
    await kubectl.waitForReplicas('web', 3)
    expect(uids(await pods(kubectl))).toEqual(expect.arrayContaining([...uids(before)]))
    await kubectl.ok(['scale', '--replicas=0', 'replicationcontroller', 'web'])
    await eventually('no pods', async () => (await pods(kubectl)).length === 0)
    await kubectl.waitForReplicas('web', 0)
    const { metadata, status } = await kubectl.get<ControllerObject>('replicationcontrollers', 'web')
    expect(metadata.generation).toBe(3)
    expect(status).toMatchObject({ replicas: 0, observedGeneration: 3 })
  })

  it('does nothing unless its preconditions hold, and says what it found', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 0))
    const wrongCount = await kubectl.run(['scale', 'rc/web', '--replicas=2', '--current-replicas=5'])
    expect([wrongCount.code, wrongCount.stderr]).toEqual([1, 'error: Expected replicas to be 5, was 0\n'])
    const { resourceVersion } = (await kubectl.get('replicationcontrollers', 'web')).metadata
    const wrongVersion = await kubectl.run(['scale', 'rc/web', '--replicas=2', '--resource-version=1'])
    expect(wrongVersion.code).toBe(1)
    expect(wrongVersion.stderr).toMatch(/^error: Expected resource version to be 1, was \d+\n$/)
    expect((await kubectl.get<ControllerObject>('replicationcontrollers', 'web')).spec.replicas).toBe(0)
    expect(resourceVersion).toMatch(/^\d+$/)
    expect(await kubectl.ok(['scale', 'rc/web', '--replicas=2', '--current-replicas=0'])).toContain('scaled')
    await kubectl.waitForReplicas('web', 2)
  })

  it.each(['client', 'server'])('shows by coracle what would be there, on a dry run by the %s', async (how) => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 1))
    const line = ['-n', kubectl.namespace, 'scale', 'rc/web', '--replicas=2', `--dry-run=${how}`, '-o', 'json']
    expect(JSON.parse((await program.coracle(line)).stdout).spec.replicas).toBe(2)
    expect((await kubectl.get<ControllerObject>('replicationcontrollers', 'web')).spec.replicas).toBe(1)
  })

  it('reads and writes the scale subresource', async () => {
    const kubectl = await inNewNamespace()
    await started(kubectl, 'web', 2)
    const scale = JSON.parse(await kubectl.ok(['get', 'rc', 'web', '--subresource=scale', '-o', 'json']))
    expect(scale).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 2 },
      status: { replicas: 2, selector: 'app=web' },
    })
    await kubectl.ok(['patch', 'rc/web', '--subresource=scale', '--type=merge', '-p', '{"spec":{"replicas":1}}'])
    await kubectl.waitForReplicas('web', 1)
  })
})

it('pods of simulated nodes end as their commands tell', async () => {
  const kubectl = await inNewNamespace()
  await kubectl.ok([
    'run',
    'task',
    '--image=none',
    '--restart=Never',
    '--command',
    '--',
    'sh',
    '-c',
    'sleep 0.1; exit 3',
  ])
  await kubectl.ok(['wait', 'pod/task', '--for=jsonpath={.status.phase}=Failed', '--timeout=50s'])
  expect(
    await kubectl.ok(['get', 'pod', 'task', '-o=jsonpath={.status.containerStatuses[0].state.terminated.exitCode}']),
  ).toBe('3')
})
