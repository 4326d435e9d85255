import { deployments, nodes, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { container, labels, Situation, selector, templateOf } from './situation.ts'

/** A Deployment of one pod. */
const web = (spec: object = {}, replicas = 1) => ({ spec: { replicas, selector, template: templateOf(spec) } })

describe('why a pod has no node', () => {
  it('asks for more than a node has', async () => {
    await using situation = await Situation.start()
    const asking = (cpu: string) => ({ containers: [{ ...container, resources: { requests: { cpu } } }] })
    await situation.create(deployments, 'web', web(asking('1000')))
    const pod = await situation.onlyPod()
    expect(await situation.cause(deployments, 'web')).toMatch(
      `InsufficientResources of pod/${pod}: 0/1 nodes are available: 1 Insufficient cpu.`,
    )
    expect(await situation.remedy(deployments, 'web')).toMatch(
      /^ask for less cpu in resources\.requests \(it asks for 1k\).*the largest node, node-0, has \d+/,
    )
    await situation.replaceTemplate(deployments, 'web', templateOf(asking('1')))
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('does not tolerate a taint', async () => {
    await using situation = await Situation.start()
    await situation.patch(nodes, 'node-0', { spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] } })
    await situation.create(deployments, 'web', web())
    expect(await situation.cause(deployments, 'web')).toMatch(/^UntoleratedTaint of pod\/web-/)
    expect(await situation.remedy(deployments, 'web')).toBe(
      'tolerate gpu=yes:NoSchedule in spec.tolerations, or take the taint away: `coracle taint nodes node-0 gpu=yes:NoSchedule-`',
    )
    await situation.patch(nodes, 'node-0', { spec: { taints: null } })
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('wants a label that no node has', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web({ nodeSelector: { disk: 'ssd' } }))
    expect(await situation.cause(deployments, 'web')).toMatch(/^NodeSelectorMismatch of pod\/web-/)
    expect(await situation.remedy(deployments, 'web')).toContain('label a node disk=ssd')
    await situation.patch(nodes, 'node-0', { metadata: { labels: { disk: 'ssd' } } })
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('finds every node cordoned', async () => {
    await using situation = await Situation.start()
    await situation.patch(nodes, 'node-0', { spec: { unschedulable: true } })
    await situation.create(deployments, 'web', web())
    expect(await situation.cause(deployments, 'web')).toMatch(/^NodesCordoned of pod\/web-/)
    expect(await situation.remedy(deployments, 'web')).toContain('`coracle uncordon node-0`')
    await situation.patch(nodes, 'node-0', { spec: { unschedulable: null } })
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('wants a port of the node that another pod has', async () => {
    await using situation = await Situation.start()
    const listening = { containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 8080 }] }] }
    await situation.create(pods, 'first', { spec: listening })
    await situation.create(pods, 'second', { spec: listening })
    expect(await situation.cause(pods, 'second')).toMatch(/^HostPortTaken of pod\/second: .*free ports/)
    await situation.delete(pods, 'first')
    await situation.passes('60s')
    expect(await situation.verdict(pods, 'second')).toBe('fine')
  })

  it('keeps away from its like, and has no other node', async () => {
    await using situation = await Situation.start()
    const apart = { labelSelector: selector, topologyKey: 'kubernetes.io/hostname' }
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } }
    await situation.create(deployments, 'web', web({ affinity }, 2))
    expect(await situation.cause(deployments, 'web')).toMatch(/^PodAntiAffinityMismatch of pod\/web-/)
    expect(await situation.remedy(deployments, 'web')).toContain('add a node')
    await situation.patch(deployments, 'web', { spec: { replicas: 1 } })
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('is to be spread over zones, and nodes have none', async () => {
    await using situation = await Situation.start()
    const spread = { maxSkew: 1, topologyKey: 'example.dev/rack', labelSelector: selector }
    await situation.create(
      deployments,
      'web',
      web({ topologySpreadConstraints: [{ ...spread, whenUnsatisfiable: 'DoNotSchedule' }] }),
    )
    expect(await situation.cause(deployments, 'web')).toMatch(/^TopologySpreadMismatch of pod\/web-/)
    const relaxed = [{ ...spread, whenUnsatisfiable: 'ScheduleAnyway' }]
    await situation.replaceTemplate(deployments, 'web', templateOf({ topologySpreadConstraints: relaxed }))
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('is gated', async () => {
    await using situation = await Situation.start()
    await situation.create(pods, 'web', { spec: { containers: [container], schedulingGates: [{ name: 'a.io/wait' }] } })
    expect(await situation.cause(pods, 'web')).toBe('SchedulingGated of pod/web: it has scheduling gates: a.io/wait')
    await situation.patch(pods, 'web', { spec: { schedulingGates: [] } })
    await situation.passes('10s')
    expect(await situation.verdict(pods, 'web')).toBe('fine')
  })

  it('is looked at by no scheduler', async () => {
    await using situation = await Situation.start()
    await situation.cluster.components['kube-scheduler'].stop()
    await situation.create(pods, 'web', { metadata: { labels }, spec: { containers: [container] } })
    expect(await situation.why(pods, 'web')).toMatchObject({
      verdict: 'waiting',
      findings: [{ reason: 'NotScheduledYet' }],
    })
    await situation.passes('1m')
    expect(await situation.cause(pods, 'web')).toBe(
      'SchedulerSilent of pod/web: scheduler default-scheduler has not said anything of it',
    )
    await situation.cluster.components['kube-scheduler'].start()
    await situation.passes('10s')
    expect(await situation.verdict(pods, 'web')).toBe('fine')
  })
})
