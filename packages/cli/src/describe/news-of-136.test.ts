import type { CronJob, Node, Pod, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { describeCronJob } from './describe-job.ts'
import { describeNode } from './describe-node.ts'
import { describePod } from './describe-pod.ts'
import { describeService } from './describe-service.ts'
import { Description } from './description.ts'
import { describePodTemplate } from './pod-template.ts'

// What kubectl tells since 1.36: the one that tests compare with is older.

const metadata = { name: 'bar', namespace: 'foo' }
const schedulingGroup = { podGroupName: 'pg' }
const port = { port: 8080, protocol: 'TCP', targetPort: 9527, appProtocol: 'example.com/custom-protocol' }
const cronJob = (timeZone?: string) =>
  ({
    metadata,
    spec: {
      schedule: '@daily',
      jobTemplate: { spec: { template: { spec: { containers: [] } } } },
      ...(timeZone && { timeZone }),
    },
  }) as unknown as CronJob
const templateText = () => {
  const text = new Description()
  describePodTemplate(text, { spec: { containers: [], schedulingGroup } })
  return text.toString()
}

const slicesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: { name: `s-${index}` } },
    spec: { driver: 'gpu.example.com', pool: { name: `pool-${index % 12}` }, devices: [{}, {}] },
  }))
const nodeWith = (count: number) =>
  describeNode(
    { metadata: { name: 'bar' }, spec: {} } as Node,
    { pods: [], lease: new Error('none'), slices: slicesOf(count), events: [] },
    0,
  )

describe('a description has, as of kubectl 1.36', () => {
  it.each<[string, () => string, string]>([
    [
      'the group that a pod is scheduled with',
      () => describePod({ metadata, spec: { containers: [], schedulingGroup } } as unknown as Pod, undefined, 0),
      'Tolerations:     <none>\nSchedulingGroup:\n  PodGroupName:  pg\n',
    ],
    ['that of a template', templateText, '  Tolerations:     <none>\n  SchedulingGroup:\n  PodGroupName:  pg\n'],
    [
      'the protocol of the application behind a port',
      () => describeService({ metadata, spec: { ports: [port] } } as unknown as Service, [], undefined, 0),
      'TargetPort:        9527/TCP\nAppProtocol:       example.com/custom-protocol\nEndpoints:',
    ],
    [
      'the time zone of a schedule',
      () => describeCronJob(cronJob('America/New_York'), undefined, 0),
      '\nTime Zone:                     America/New_York\nSuccessful',
    ],
    [
      'that a schedule has none',
      () => describeCronJob(cronJob(), undefined, 0),
      '\nTime Zone:                     <unset>\n',
    ],
    [
      'the devices that are on a node alone',
      () => nodeWith(1),
      'Addresses:\nNode-Local ResourceSlices:\n  Driver           Pool    Slices  Devices\n' +
        '  ------           ----    ------  -------\n  gpu.example.com  pool-0  1       2\nSystem Info:',
    ],
    [
      'pools of devices, by their names',
      () => nodeWith(13),
      '  gpu.example.com  pool-0   2       4\n  gpu.example.com  pool-1   1       2\n  gpu.example.com  pool-10  1       2\n',
    ],
    ['no more than ten of them', () => nodeWith(12), '\n  ...and 2 more pools\nSystem Info:'],
    [
      'no version of a kube-proxy',
      () =>
        describeNode(
          { metadata: { name: 'bar' }, spec: {} } as Node,
          { pods: [], lease: new Error('none'), slices: [], events: [] },
          0,
        ),
      '  Kubelet Version:            \nNon-terminated Pods:',
    ],
  ])('%s', (_, text, expected) => {
    expect(text()).toContain(expected)
  })
})
