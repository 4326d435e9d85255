import { describe, expect, it } from 'vitest'
import { storedPod } from '../kinds/core/pod/pod-fixtures.ts'
import { formatQuantity } from '../quantity.ts'
import { podLimits, podRequests } from './pod-resources.ts'
import { quantitiesOf, type ResourceQuantities, wholeAmount } from './resource-quantities.ts'

type Amounts = Readonly<Record<string, string>>
type Spec = Readonly<Record<string, unknown>>

const text = (quantities: ResourceQuantities): Amounts =>
  Object.fromEntries([...quantities].map(([name, amount]) => [name, formatQuantity(amount)]))

const container = (amounts: Amounts, more: Spec = {}) => ({
  name: 'c',
  image: 'nginx:1.27',
  resources: { requests: amounts, limits: amounts },
  ...more,
})
const sidecar = (amounts: Amounts) => container(amounts, { restartPolicy: 'Always' })

const sums: readonly (readonly [string, Spec, Amounts])[] = [
  ['are nothing for containers that do not say', { containers: [{ name: 'c', image: 'x' }] }, {}],
  [
    'are the sum of containers',
    { containers: [container({ cpu: '100m', memory: '1Gi' }), container({ cpu: '250m', 'example.com/gpu': '1' })] },
    { cpu: '350m', memory: '1Gi', 'example.com/gpu': '1' },
  ],
  [
    'are the most of an init container where that is more',
    {
      containers: [container({ cpu: '1', memory: '1Gi' })],
      initContainers: [container({ cpu: '2' }), container({ cpu: '500m', memory: '3Gi' })],
    },
    { cpu: '2', memory: '3Gi' },
  ],
  [
    'include sidecars, which run beside the containers',
    { containers: [container({ cpu: '100m' })], initContainers: [sidecar({ cpu: '200m' })] },
    { cpu: '300m' },
  ],
  [
    'count an init container beside the sidecars started before it',
    { containers: [container({ cpu: '100m' })], initContainers: [sidecar({ cpu: '200m' }), container({ cpu: '1' })] },
    { cpu: '1200m' },
  ],
  [
    'are written as the amount of an init container, whatever those of its sidecars',
    { containers: [container({})], initContainers: [sidecar({ cpu: '1e3' }), container({ cpu: '1k' })] },
    { cpu: '2k' },
  ],
  [
    'count an init container without the sidecars started after it',
    { containers: [container({ cpu: '100m' })], initContainers: [container({ cpu: '1' }), sidecar({ cpu: '200m' })] },
    { cpu: '1' },
  ],
  [
    'are those of the pod as a whole where it has some',
    {
      containers: [container({ cpu: '1', memory: '1Gi', 'example.com/gpu': '1' })],
      resources: { requests: { cpu: '3', 'example.com/gpu': '2' }, limits: { cpu: '3', 'example.com/gpu': '2' } },
    },
    { cpu: '3', memory: '1Gi', 'example.com/gpu': '1' },
  ],
]

describe('podRequests', () => {
  it.each([
    ...sums,
    [
      'include overhead',
      { containers: [container({ cpu: '100m' })], overhead: { cpu: '50m', memory: '1Mi' } },
      { cpu: '150m', memory: '1Mi' },
    ] as const,
  ])('%s', (_, spec, amounts) => {
    expect(text(podRequests(storedPod(spec).spec))).toEqual(amounts)
  })

  it('assume something for each container that does not say, zero being a word', () => {
    const { spec } = storedPod({ containers: [container({ cpu: '0' }), container({ memory: '1Gi' })] })
    expect(text(podRequests(spec, quantitiesOf({ cpu: '100m', memory: '200Mi' })))).toEqual({
      cpu: '100m',
      memory: '1224Mi',
    })
  })
})

describe('podLimits', () => {
  it.each([
    ...sums,
    [
      'include overhead where there is a limit',
      { containers: [container({ cpu: '100m', memory: '0' })], overhead: { cpu: '50m', memory: '1Mi' } },
      { cpu: '150m', memory: '0' },
    ] as const,
  ])('%s', (_, spec, amounts) => {
    expect(text(podLimits(storedPod(spec).spec))).toEqual(amounts)
  })
})

it.each([
  ['cpu', '1500m', 1500],
  ['memory', '1Ki', 1024],
  ['memory', '100m', 1],
  ['example.com/gpu', '2', 2],
])('nodes count %s of %s as %d', (name, amount, whole) => {
  const quantity = quantitiesOf({ [name]: amount }).get(name)
  expect(quantity && wholeAmount(name, quantity)).toBe(whole)
})
