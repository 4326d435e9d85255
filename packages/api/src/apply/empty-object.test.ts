import { expect, it } from 'vitest'
import { cronJobs, daemonSets, deployments, pods, replicationControllers } from '../kinds/index.ts'
import { emptyObjectOf } from './empty-object.ts'

const template = { metadata: {}, spec: { containers: [] } }

// What Go writes of a new value of each type: with a null where a list is empty.
it.each([
  ['pods', pods, { metadata: {}, spec: { containers: [] }, status: {} }],
  ['deployments', deployments, { metadata: {}, spec: { strategy: {}, template }, status: {} }],
  [
    'daemonsets',
    daemonSets,
    {
      metadata: {},
      spec: { template, updateStrategy: {} },
      status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    },
  ],
  [
    'cronjobs',
    cronJobs,
    { metadata: {}, spec: { schedule: '', jobTemplate: { metadata: {}, spec: { template } } }, status: {} },
  ],
  ['replicationcontrollers', replicationControllers, { metadata: {}, spec: {}, status: { replicas: 0 } }],
] as const)('an empty object of %s has the structs that Go holds by value', (_name, { schema }, empty) => {
  expect(emptyObjectOf(schema)).toEqual(empty)
})
