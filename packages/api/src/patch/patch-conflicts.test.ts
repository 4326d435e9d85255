import { expect, it } from 'vitest'
import { deployments } from '../kinds/apps/deployment/deployment.ts'
import { patchConflicts } from './patch-conflicts.ts'

const containers = (...list: readonly object[]) => ({ spec: { template: { spec: { containers: list } } } })
const env = (name: string, value: string) => ({ name: 'web', env: [{ name, value }] })

it.each([
  ['the same value twice', { spec: { replicas: 2 } }, { spec: { replicas: 2 } }, []],
  ['another value', { spec: { replicas: 2 } }, { spec: { replicas: 3 } }, ['spec.replicas']],
  ['a value and its removal', { spec: { replicas: null } }, { spec: { replicas: 3 } }, ['spec.replicas']],
  ['different fields', { spec: { replicas: 2 } }, { spec: { paused: true }, metadata: { labels: { a: 'b' } } }, []],
  ['different labels', { metadata: { labels: { a: '1' } } }, { metadata: { labels: { b: '2' } } }, []],
  ['different containers', containers({ name: 'web', image: 'a' }), containers({ name: 'log', image: 'b' }), []],
  ['different variables of one container', containers(env('A', '1')), containers(env('B', '2')), []],
  [
    'one variable of one container',
    containers(env('A', '1')),
    containers(env('A', '2')),
    ['spec.template.spec.containers[web].env[A].value'],
  ],
  [
    'lists that are replaced whole',
    containers({ name: 'web', args: ['a'] }),
    containers({ name: 'web', args: ['b'] }),
    ['spec.template.spec.containers[web].args'],
  ],
  [
    'an object and its removal',
    { spec: { strategy: { type: 'Recreate' } } },
    { spec: { strategy: null } },
    ['spec.strategy'],
  ],
  [
    'a list that is merged and its removal',
    containers({ name: 'web' }),
    { spec: { template: { spec: { containers: null } } } },
    ['spec.template.spec.containers'],
  ],
  [
    'different fields beside directives',
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    { spec: { strategy: { $retainKeys: ['rollingUpdate'], rollingUpdate: { maxSurge: 1 } } } },
    [],
  ],
  [
    'finalizers, which are added to each other',
    { metadata: { finalizers: ['a.example/x'] } },
    { metadata: { finalizers: ['b.example/y'] } },
    [],
  ],
])('finds in %s what both change', (_, left, right, expected) => {
  expect(patchConflicts(deployments.schema, left, right)).toEqual(expected)
  expect(patchConflicts(deployments.schema, right, left)).toEqual(expected)
})
