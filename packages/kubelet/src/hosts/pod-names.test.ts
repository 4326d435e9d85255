import type { Pod } from '@coracle/api'
import { expect, it } from 'vitest'
import { podNames } from './pod-names.ts'

const namesOf = (name: string, spec: Partial<Pod['spec']>) =>
  podNames(
    { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop' }, spec: { containers: [], ...spec } },
    'example.internal',
  )

it.each<[string, string, Partial<Pod['spec']>, string, readonly string[] | undefined]>([
  ['is called as it is', 'web-0', {}, 'web-0', undefined],
  [
    'has a longer name in its subdomain',
    'web-0',
    { subdomain: 'web' },
    'web-0',
    ['web-0.web.shop.svc.example.internal', 'web-0'],
  ],
  [
    'has it with dots in its own, too',
    'a.b',
    { subdomain: 'web' },
    'a.b',
    ['a.b.web.shop.svc.example.internal', 'a.b'],
  ],
  [
    'has both where its host has the longer one',
    'web-0',
    { subdomain: 'web', setHostnameAsFQDN: true },
    'web-0.web.shop.svc.example.internal',
    ['web-0.web.shop.svc.example.internal', 'web-0'],
  ],
  [
    'has one that is cut in it',
    'a'.repeat(70),
    { subdomain: 'web' },
    'a'.repeat(63),
    [`${'a'.repeat(63)}.web.shop.svc.example.internal`, 'a'.repeat(63)],
  ],
  ['has no longer one where it is overridden', 'web-0', { subdomain: 'web', hostnameOverride: 'db' }, 'db', undefined],
])('a pod %s', (_what, name, spec, hostname, ownNames) => {
  const names = namesOf(name, spec)
  expect([names.hostname, names.ownNames]).toEqual([hostname, ownNames])
})
