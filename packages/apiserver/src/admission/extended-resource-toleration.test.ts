import { pods } from '@coracle/api'
import { expect, it } from 'vitest'
import { pod, startTestCore } from '../testing/test-core.ts'

const asking = (name: string, ...resources: readonly string[]) => ({
  name,
  image: 'i',
  resources: { limits: Object.fromEntries(resources.map((each) => [each, '1'])) },
})
const tolerating = (key: string) => ({ key, operator: 'Exists' as const, effect: 'NoSchedule' as const })

it.each([
  ['nothing', { containers: [asking('c')] }, undefined],
  ['what every node has', { containers: [asking('c', 'cpu', 'memory', 'ephemeral-storage')] }, undefined],
  ['a device', { containers: [asking('c', 'cpu', 'a.com/gpu')] }, [tolerating('a.com/gpu')]],
  [
    'several, in containers of all kinds',
    {
      containers: [asking('c', 'b.com/nic'), asking('d', 'a.com/gpu')],
      initContainers: [asking('i', 'c.com/key', 'b.com/nic')],
    },
    ['a.com/gpu', 'b.com/nic', 'c.com/key'].map(tolerating),
  ],
  [
    'one that it tolerates already',
    { containers: [asking('c', 'a.com/gpu')], tolerations: [tolerating('a.com/gpu')] },
    [tolerating('a.com/gpu')],
  ],
  [
    'one that it tolerates otherwise',
    {
      containers: [asking('c', 'a.com/gpu')],
      tolerations: [{ ...tolerating('a.com/gpu'), effect: 'NoExecute' as const }],
    },
    [{ ...tolerating('a.com/gpu'), effect: 'NoExecute' }, tolerating('a.com/gpu')],
  ],
])('a pod that asks for %s', async (_what, spec, expected) => {
  const { client } = await startTestCore({
    enabledAdmission: ['ExtendedResourceToleration'],
    disabledAdmission: ['DefaultTolerationSeconds'],
  })
  expect((await client.create(pods, pod('a', {}, spec))).spec.tolerations).toEqual(expected)
})
