import { kindSchema, metadataDoc, objectMeta } from '../../../meta.ts'
import { int32, microTime, object, optional, required, string, time } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { objectReference } from '../common.ts'

export interface EventSeries extends Infer<typeof eventSeries> {}
export const eventSeries = object(`${coreV1}.EventSeries`, 'The same event, happening again and again.', {
  count: optional(int32(), 'How often it happened up to lastObservedTime.'),
  lastObservedTime: optional(microTime, 'When it last happened.', { byValue: true }),
})

export interface EventSource extends Infer<typeof eventSource> {}
export const eventSource = object(`${coreV1}.EventSource`, 'Who reported an event.', {
  component: optional(string(), 'Name of the component.'),
  host: optional(string(), 'Node it runs on.'),
})

/** Something that happened to an object, for people to read. */
export interface Event extends Infer<typeof eventSchema> {}
export const eventSchema = kindSchema(
  `${coreV1}.Event`,
  'Something that happened to an object. Events are for people; they go after an hour or so.',
  {
    metadata: required(objectMeta, metadataDoc),
    involvedObject: required(objectReference, 'What the event is about.', { default: {}, byValue: true }),
    reason: optional(string(), 'Why it happened, in one CamelCase word that programs can compare.'),
    message: optional(string(), 'What happened, for people.'),
    source: optional(eventSource, 'Who reported it, in the older way.', { default: {}, byValue: true }),
    firstTimestamp: optional(time, 'When it first happened.', { byValue: true }),
    lastTimestamp: optional(time, 'When it last happened.', { byValue: true }),
    count: optional(int32(), 'How often it happened.'),
    type: optional(string(), 'Normal or Warning; others may come.'),
    eventTime: optional(
      microTime,
      'When it first happened, in the newer way. An event with it must say who reports it.',
      { byValue: true },
    ),
    series: optional(eventSeries, 'Where it stands in a series, if it is in one.'),
    action: optional(string(), 'What was done or went wrong, in one CamelCase word.'),
    related: optional(objectReference, 'A second object the event is about.'),
    reportingComponent: optional(string(), 'The controller that reported it, such as kubernetes.io/kubelet.', {
      default: '',
    }),
    reportingInstance: optional(string(), 'Which instance of that controller.', { default: '' }),
  },
)
