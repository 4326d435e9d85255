import { pods } from '@coracle/api'
import { expect, it } from 'vitest'
import { pod, refusal, startTestCore } from '../testing/test-core.ts'

const away = (...topologyKeys: readonly string[]) => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: topologyKeys.map((topologyKey) => ({
        labelSelector: { matchLabels: { app: 'web' } },
        topologyKey,
      })),
    },
  },
})
const start = () => startTestCore({ enabledAdmission: ['LimitPodHardAntiAffinityTopology'] })

it.each([
  ['nothing', {}],
  ['an empty affinity', { affinity: {} }],
  ['others of its node', away('kubernetes.io/hostname')],
  [
    'its zone, but only if it can be',
    {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'zone' } }],
        },
      },
    },
  ],
])('a pod may ask for %s', async (_what, spec) => {
  const { client } = await start()
  await client.create(pods, pod('a', {}, spec))
})

it.each([[['zone']], [['kubernetes.io/hostname', 'zone']]])(
  'a pod may keep others away from no %s',
  async (topologyKeys) => {
    const { client } = await start()
    expect(await refusal(client.create(pods, pod('a', {}, away(...topologyKeys))))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message:
        'pods "a" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    })
  },
)
