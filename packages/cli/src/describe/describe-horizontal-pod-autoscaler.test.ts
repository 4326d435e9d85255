import type { HorizontalPodAutoscaler } from '@coracle/api'
import { expect, it } from 'vitest'
import { describeHorizontalPodAutoscaler } from './describe-horizontal-pod-autoscaler.ts'

const target = { type: 'Utilization', averageUtilization: 50 }
const autoscaler: HorizontalPodAutoscaler = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 2,
    maxReplicas: 9,
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target } },
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'web', target } },
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } } },
      {
        type: 'Object',
        object: {
          describedObject: { kind: 'Service', name: 'web' },
          metric: { name: 'hits' },
          target: { type: 'Value', value: '5' },
        },
      },
      {
        type: 'External',
        external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '7' } },
      },
    ],
    behavior: {
      scaleDown: {
        stabilizationWindowSeconds: 60,
        selectPolicy: 'Max',
        policies: [{ type: 'Pods', value: 1, periodSeconds: 30 }],
      },
    },
  },
  status: {
    currentReplicas: 3,
    desiredReplicas: 4,
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '800m' } } },
    ],
    conditions: [{ type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'it is' }],
  },
}

it('describes an autoscaler as kubectl does', () => {
  const lines = describeHorizontalPodAutoscaler(autoscaler, [], 0)
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
  expect(lines.slice(5, -2)).toEqual([
    'Reference: Deployment/web',
    'Metrics: ( current / target )',
    'resource cpu on pods (as a percentage of request): 80% (800m) / 50%',
    'resource cpu of container "web" on pods (as a percentage of request): <unknown> / 50%',
    '"qps" on pods: <unknown> / 10',
    '"hits" on Service/web (target value): <unknown> / 5',
    '"queue" (target average value): <unknown> / 7',
    'Min replicas: 2',
    'Max replicas: 9',
    'Behavior:',
    'Scale Down:',
    'Stabilization Window: 60 seconds',
    'Select Policy: Max',
    'Policies:',
    '- Type: Pods Value: 1 Period: 30 seconds',
    'Deployment pods: 3 current / 4 desired',
    'Conditions:',
    'Type Status Reason Message',
    '---- ------ ------ -------',
    'AbleToScale True ReadyForNewScale it is',
  ])
})
