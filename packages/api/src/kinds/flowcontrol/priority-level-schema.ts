import { kindSchema } from '../../meta.ts'
import { defaulted, int32, mapList, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { flowCondition } from './conditions.ts'
import { flowcontrolV1 } from './names.ts'

export interface QueuingConfiguration extends Infer<typeof queuingConfiguration> {}
export const queuingConfiguration = object(
  `${flowcontrolV1}.QueuingConfiguration`,
  'How requests wait that cannot be answered yet.',
  {
    queues: defaulted(int32(), 'How many queues there are; 64 unless set.', 0),
    handSize: defaulted(
      int32(),
      'How many of the queues a flow may use; the shortest of them is taken. More for fewer flows that press upon others; 8 unless set.',
      0,
    ),
    queueLengthLimit: defaulted(int32(), 'How many requests wait in a queue at most; 50 unless set.', 0),
  },
)

export interface LimitResponse extends Infer<typeof limitResponse> {}
export const limitResponse = object(
  `${flowcontrolV1}.LimitResponse`,
  'What becomes of requests that cannot be answered yet.',
  {
    type: required(string(), 'Queue: they wait; Reject: they are refused with 429.', { default: '' }),
    queuing: optional(queuingConfiguration, 'How they wait, where the type is Queue.'),
  },
  { unions: [{ discriminator: 'type', fields: ['queuing'], checked: false }] },
)

export interface LimitedPriorityLevelConfiguration extends Infer<typeof limitedPriorityLevelConfiguration> {}
export const limitedPriorityLevelConfiguration = object(
  `${flowcontrolV1}.LimitedPriorityLevelConfiguration`,
  'How many requests are answered at a time, and what becomes of others.',
  {
    nominalConcurrencyShares: pointer(
      int32(),
      'The share of the seats of the server that this level has, relative to that of other levels; 30 unless set.',
      { default: 30 },
    ),
    limitResponse: optional(limitResponse, 'What becomes of requests for which there is no seat.', {
      default: { type: '' },
      byValue: true,
    }),
    lendablePercent: pointer(int32(), 'How much of its seats other levels may use while it does not; 0 unless set.', {
      default: 0,
    }),
    borrowingLimitPercent: pointer(
      int32(),
      'How many seats it may use beyond its own, in percent of those; as many as there are unless set.',
    ),
  },
)

export interface ExemptPriorityLevelConfiguration extends Infer<typeof exemptPriorityLevelConfiguration> {}
export const exemptPriorityLevelConfiguration = object(
  `${flowcontrolV1}.ExemptPriorityLevelConfiguration`,
  'The seats that are set aside for a level whose requests never wait.',
  {
    nominalConcurrencyShares: pointer(int32(), 'Its share of the seats of the server; 0 unless set.', { default: 0 }),
    lendablePercent: pointer(int32(), 'How much of its seats other levels may use while it does not; 0 unless set.', {
      default: 0,
    }),
  },
)

export interface PriorityLevelConfigurationSpec extends Infer<typeof priorityLevelConfigurationSpec> {}
export const priorityLevelConfigurationSpec = object(
  `${flowcontrolV1}.PriorityLevelConfigurationSpec`,
  'How requests of a level are answered.',
  {
    type: required(string(), 'Exempt: at once; Limited: so many at a time.', { default: '' }),
    limited: optional(limitedPriorityLevelConfiguration, 'How many, where the type is Limited.'),
    exempt: optional(exemptPriorityLevelConfiguration, 'What is set aside, where the type is Exempt.'),
  },
  { unions: [{ discriminator: 'type', fields: ['exempt', 'limited'], checked: false }] },
)

export const priorityLevelConfigurationCondition = flowCondition(
  `${flowcontrolV1}.PriorityLevelConfigurationCondition`,
  'One aspect of how a PriorityLevelConfiguration is.',
)

/** How many requests of a kind are answered at a time. */
export interface PriorityLevelConfiguration extends Infer<typeof priorityLevelConfigurationSchema> {}
export const priorityLevelConfigurationSchema = kindSchema(
  `${flowcontrolV1}.PriorityLevelConfiguration`,
  'A priority level: how many requests are answered at a time, and how others wait.',
  {
    spec: optional(priorityLevelConfigurationSpec, 'How requests of this level are answered.', {
      default: { type: '' },
    }),
    status: optional(
      object(`${flowcontrolV1}.PriorityLevelConfigurationStatus`, 'How a PriorityLevelConfiguration is.', {
        conditions: optional(
          mapList(priorityLevelConfigurationCondition, ['type'], { patchStrategy: 'merge' }),
          'How it is, by type.',
        ),
      }),
      'How it is.',
      { default: {} },
    ),
  },
)
