import type { Event, Pod, ReplicationController } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { controlledBy } from './controlled-by.ts'
import { describeReplicationController } from './describe-replication-controller.ts'

const controller = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'frontend', namespace: 'default', uid: 'u1', labels: { name: 'frontend', tier: 'front' } },
  spec: {
    replicas: 2,
    selector: { name: 'frontend' },
    template: {
      metadata: { labels: { name: 'frontend' } },
      spec: {
        containers: [{ name: 'web', image: 'example/frontend', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
      },
    },
  },
  status: { replicas: 2 },
} as unknown as ReplicationController

const pod = (phase: string, uid = 'u1') =>
  ({ metadata: { ownerReferences: [{ uid, controller: true }] }, status: { phase } }) as unknown as Pod

const event = {
  type: 'Normal',
  reason: 'SuccessfulCreate',
  message: 'Created pod: frontend-x',
  involvedObject: {},
  source: { component: 'replication-controller' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:30Z',
  count: 3,
} as unknown as Event

describe('describeReplicationController', () => {
  it('shows what is wanted, what is there, and what happened', () => {
    const nowMs = 1_767_225_660_000 // 2026-01-01T00:01:00Z
    expect(describeReplicationController(controller, [pod('Running'), pod('Pending')], [event], nowMs)).toBe(
      `Name:         frontend
Namespace:    default
Selector:     name=frontend
Labels:       name=frontend
              tier=front
Annotations:  <none>
Replicas:     2 current / 2 desired
Pods Status:  1 Running / 1 Waiting / 0 Succeeded / 0 Failed
Pod Template:
  Labels:  name=frontend
  Containers:
   web:
    Image:         example/frontend
    Port:          80/TCP
    Host Port:     0/TCP
    Environment:   <none>
    Mounts:        <none>
  Volumes:         <none>
  Node-Selectors:  <none>
  Tolerations:     <none>
Events:
  Type    Reason            Age                From                    Message
  ----    ------            ----               ----                    -------
  Normal  SuccessfulCreate  30s (x3 over 60s)  replication-controller  Created pod: frontend-x
`,
    )
  })
})

describe('controlledBy', () => {
  it('leaves out pods that the selector finds and another controls', () => {
    const [own, other] = [pod('Running'), pod('Running', 'u2')]
    expect(controlledBy(controller, [own, other])).toEqual([own])
  })
})
