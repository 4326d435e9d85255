import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyObject, controller, Kubectl, type PodObject, pod, rows } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `nodes-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
  })
})
afterAll(() => program[Symbol.asyncDispose]())

const nodeOf = (kubectl: Kubectl, name: string) =>
  eventually(`a node for ${name}`, async () => (await kubectl.get<PodObject>('pods', name)).spec.nodeName)

const unschedulable = (kubectl: Kubectl, name: string) =>
  eventually(`${name} found unschedulable`, async () => {
    const { status } = await kubectl.get<PodObject>('pods', name)
    return status.conditions?.find(({ reason }) => reason === 'Unschedulable')
  })

/** Uncordons nodes, and waits until the taint that cordoning brings is gone, too: pods keep away from it as long. */
async function uncordon(kubectl: Kubectl, ...names: readonly string[]): Promise<void> {
  const told = await kubectl.ok(['uncordon', ...names])
  expect(told).toBe(names.map((name) => `node/${name} uncordoned\n`).join(''))
  await eventually(`no taint on ${names}`, async () => {
    const all = (await kubectl.list<NodeObject>('nodes')).filter(({ metadata }) => names.includes(metadata.name))
    return all.every(({ spec }) => (spec.taints ?? []).length === 0)
  })
}

interface NodeObject extends AnyObject {
  readonly spec: { readonly taints?: readonly object[] }
}

describe('cordon', () => {
  it('keeps new pods off a node until it is uncordoned', async () => {
    const kubectl = await inNewNamespace()
    expect(await kubectl.ok(['cordon', 'node-0'])).toBe('node/node-0 cordoned\n')
    expect(await kubectl.ok(['cordon', 'node-0'])).toBe('node/node-0 already cordoned\n')
    const status = async () => rows(await kubectl.ok(['get', 'nodes'])).map(([name, state]) => [name, state])
    expect(await status()).toEqual([
      ['NAME', 'STATUS'],
      ['node-0', 'Ready,SchedulingDisabled'],
      ['node-1', 'Ready'],
    ])
    const all = ['a', 'b', 'c', 'd']
    await kubectl.create('pods', ...all.map((name) => pod(name)))
    for (const name of all) expect(await nodeOf(kubectl, name)).toBe('node-1')
    await uncordon(kubectl, 'node-0')
    expect((await status())[1]).toEqual(['node-0', 'Ready'])
    await kubectl.create('pods', pod('after'))
    expect(await nodeOf(kubectl, 'after')).toBe('node-0') // the one with fewer pods
  })

  it('leaves pods waiting where there is no other node, with the reason, and they start when there is', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.ok(['cordon', 'node-0', 'node-1'])
    await kubectl.create('pods', pod('waiting'))
    const { message } = await unschedulable(kubectl, 'waiting')
    expect(message).toMatch(/^0\/2 nodes are available: 2 node\(s\) were unschedulable\./)
    // Events are told after what they tell of.
    await expect
      .poll(() => kubectl.ok(['describe', 'pod', 'waiting']))
      .toMatch(
        /Warning +FailedScheduling +\S+ +default-scheduler +0\/2 nodes are available: 2 node\(s\) were unschedulable/,
      )
    expect(rows(await kubectl.ok(['get', 'pod', 'waiting']))[1]?.slice(0, 3)).toEqual(['waiting', '0/1', 'Pending'])
    await uncordon(kubectl, 'node-1')
    expect(await nodeOf(kubectl, 'waiting')).toBe('node-1')
    await kubectl.ok(['wait', '--for=condition=Ready', 'pod/waiting', '--timeout=50s'])
    await uncordon(kubectl, 'node-0')
  })
})

describe('drain', () => {
  it('moves the pods of controllers to other nodes, and refuses to lose those without one', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 4))
    await kubectl.waitForReplicas('web', 4)
    await kubectl.create('pods', pod('bare', {}, { nodeSelector: { 'kubernetes.io/hostname': 'node-1' } }))
    expect(await nodeOf(kubectl, 'bare')).toBe('node-1')
    const selected = ['drain', 'node-1', '--pod-selector=!never']
    const refused = await kubectl.run(selected)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(
      'cannot delete cannot delete Pods that declare no controller (use --force to override)',
    )
    expect(await kubectl.exists('pods', 'bare')).toBe(true)

    expect(await kubectl.ok([...selected, '--force'])).toMatch(/node\/node-1 drained\n$/)
    const left = await eventually('four pods that run', async () => {
      const found = await kubectl.list<PodObject>('pods')
      return found.length === 4 && found.every(({ status }) => status.phase === 'Running') && found
    })
    expect(left.map(({ spec }) => spec.nodeName)).toEqual(['node-0', 'node-0', 'node-0', 'node-0'])
    expect(await kubectl.exists('pods', 'bare')).toBe(false)
    await uncordon(kubectl, 'node-1')
  })

  it('looks for nodes and their pods page by page, as kubectl', async () => {
    const line = ['drain', '--selector=kubernetes.io/hostname', '--chunk-size=1', '--dry-run=client', '--force', '-v=6']
    const lists = ({ stderr }: { readonly stderr: string }) =>
      [...stderr.matchAll(/\/v1\/((?:nodes|pods)\?[^"]*)"/g)].map(([, list = '']) =>
        list.replace(/continue=[^&]+/, 'continue'),
      )
    const ours = lists(await program.coracle([...line, '--pod-selector=no=where']))
    expect(ours).toEqual(lists(await program.kubectl([...line, '--pod-selector=no=where'])))
    expect(ours.slice(0, 2)).toEqual([
      'nodes?labelSelector=kubernetes.io%2Fhostname&limit=1',
      'nodes?continue&labelSelector=kubernetes.io%2Fhostname&limit=1',
    ])
  })

  it('evicts no more pods at a time than their budget allows, and none where it allows none', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 4))
    await kubectl.waitForReplicas('web', 4)
    await kubectl.ok(['create', 'poddisruptionbudget', 'web', '--selector=app=web', '--min-available=4'])
    const budget = async () => rows(await kubectl.ok(['get', 'pdb', 'web']))[1]?.slice(0, 4)
    await eventually('a counted budget', async () => ((await budget())?.[3] === '0' ? true : undefined))
    expect(await budget()).toEqual(['web', '4', 'N/A', '0'])
    const onNode1 = async () => {
      const all = await kubectl.list<PodObject>('pods')
      return all.filter(({ spec, metadata }) => spec.nodeName === 'node-1' && metadata.deletionTimestamp === undefined)
    }
    const before = (await onNode1()).length
    expect(before).toBeGreaterThan(0)
    const drain = ['drain', 'node-1', '--pod-selector=app=web']
    // Its first try may take longer than the second that it has.
    await eventually('a refusal by the budget', async () => {
      const { code, stderr } = await kubectl.run([...drain, '--timeout=1s'])
      return code === 1 && stderr.includes("Cannot evict pod as it would violate the pod's disruption budget.")
    })
    expect(await onNode1()).toHaveLength(before)

    await kubectl.ok(['patch', 'pdb', 'web', '--type=merge', '-p', '{"spec":{"minAvailable":3}}'])
    const drained = await kubectl.run([...drain, '--timeout=60s'])
    expect(drained.stdout).toMatch(/node\/node-1 drained\n$/)
    expect(await onNode1()).toEqual([])
    await kubectl.waitForReplicas('web', 4)
    await uncordon(kubectl, 'node-1')
  })
})

describe('taint', () => {
  it('keeps pods off that do not tolerate it', async () => {
    const kubectl = await inNewNamespace()
    expect(await kubectl.ok(['taint', 'nodes', 'node-0', 'dedicated=db:NoSchedule'])).toBe('node/node-0 tainted\n')
    const refused = await kubectl.run(['taint', 'nodes', 'node-0', 'dedicated=web:NoSchedule'])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('already has dedicated taint(s)')])
    expect(await kubectl.ok(['describe', 'node', 'node-0'])).toMatch(/^Taints: +dedicated=db:NoSchedule$/m)

    const onNode0 = { nodeSelector: { 'kubernetes.io/hostname': 'node-0' } }
    const tolerations = [{ key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' }]
    await kubectl.create('pods', pod('any'), pod('bound', {}, onNode0), pod('db', {}, { ...onNode0, tolerations }))
    expect(await nodeOf(kubectl, 'any')).toBe('node-1')
    expect(await nodeOf(kubectl, 'db')).toBe('node-0')
    const { message } = await unschedulable(kubectl, 'bound')
    expect(message).toMatch(/^0\/2 nodes are available: /)
    expect(message).toMatch(/1 node\(s\) didn't match Pod's node affinity\/selector/)
    expect(message).toMatch(/1 node\(s\) had untolerated taint/)

    expect(await kubectl.ok(['taint', 'nodes', 'node-0', 'dedicated-'])).toBe('node/node-0 untainted\n')
    expect(await nodeOf(kubectl, 'bound')).toBe('node-0')
  })
})

describe('nodes', () => {
  it('are selected and labelled like anything else', async () => {
    const kubectl = await Kubectl.in(program)
    await kubectl.ok(['label', 'node', 'node-1', 'disk=ssd', 'node-role.kubernetes.io/worker='])
    expect(await kubectl.ok(['get', 'nodes', '-l', 'disk=ssd', '-o', 'name'])).toBe('node/node-1\n')
    expect(rows(await kubectl.ok(['get', 'node', 'node-1']))[1]?.slice(0, 3)).toEqual(['node-1', 'Ready', 'worker'])
    const fresh = await inNewNamespace()
    await fresh.create('pods', pod('fast', {}, { nodeSelector: { disk: 'ssd' } }))
    expect(await nodeOf(fresh, 'fast')).toBe('node-1')
  })
})
