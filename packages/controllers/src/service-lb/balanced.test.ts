import type { Service } from '@coracle/api'
import { expect, it } from 'vitest'
import { addressesCondition, cleanupFinalizer, needsCleanup } from './balanced.ts'

interface Traits {
  readonly type?: 'ClusterIP'
  readonly loadBalancerClass?: string
  readonly isHeld?: true
  readonly isMarked?: true
  readonly isGoing?: true
}

const service = ({ type, loadBalancerClass, isHeld, isMarked, isGoing }: Traits): Service =>
  ({
    metadata: {
      name: 'web',
      ...(isHeld && { finalizers: [cleanupFinalizer] }),
      ...(isGoing && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { type: type ?? 'LoadBalancer', ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) },
    status: isMarked && { conditions: [{ type: addressesCondition }] },
  }) as unknown as Service

const others = 'example.com/lb'

it.each<readonly [title: string, traits: Traits, whereGiven: boolean, whereNot: boolean]>([
  ['has nothing', {}, false, false],
  ['has addresses', { isHeld: true, isMarked: true }, false, true],
  ['has addresses and goes', { isHeld: true, isMarked: true, isGoing: true }, true, true],
  ['has addresses and is of another type', { isHeld: true, isMarked: true, type: 'ClusterIP' }, true, true],
  ['has addresses and is of another class', { isHeld: true, isMarked: true, loadBalancerClass: others }, true, true],
  ['is held by a load balancer of old and goes', { isHeld: true, isGoing: true }, true, false],
  ['is held by one and is of another type', { isHeld: true, type: 'ClusterIP' }, true, false],
  ['is held by one of another class', { isHeld: true, loadBalancerClass: others, isGoing: true }, false, false],
  ['goes with nothing', { isGoing: true }, false, false],
])('a service that %s', (_, traits, whereGiven, whereNot) => {
  expect(needsCleanup(service(traits), true)).toBe(whereGiven)
  expect(needsCleanup(service(traits), false)).toBe(whereNot)
})
