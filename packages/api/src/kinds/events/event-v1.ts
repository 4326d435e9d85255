/** Events as events.k8s.io/v1 has them: the same objects as the core group's, under other names. */
import { kindSchema } from '../../meta.ts'
import { int32, microTime, object, optional, required, string, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { objectReference } from '../core/common.ts'
import { type Event, eventSource } from '../core/event/event-schema.ts'
import { convertedVersion } from '../kind.ts'

const eventsGroupV1 = 'io.k8s.api.events.v1'

export const eventV1Series = object(`${eventsGroupV1}.EventSeries`, 'The same event, happening again and again.', {
  count: required(int32(), 'How often it happened up to lastObservedTime.', { default: 0 }),
  lastObservedTime: required(microTime, 'When it last happened.'),
})

/** Something that happened to an object, for people to read. */
export interface EventV1 extends Infer<typeof eventV1Schema> {}
export const eventV1Schema = kindSchema(
  `${eventsGroupV1}.Event`,
  'Something that happened to an object. Events are for people; they go after an hour or so.',
  {
    eventTime: required(microTime, 'When it first happened.'),
    series: optional(eventV1Series, 'Where it stands in a series, if it is in one.'),
    reportingController: optional(string(), 'The controller that reported it, such as kubernetes.io/kubelet.'),
    reportingInstance: optional(string(), 'Which instance of that controller.'),
    action: optional(string(), 'What was done or went wrong, in one CamelCase word.'),
    reason: optional(string(), 'Why it happened, in one CamelCase word that programs can compare.'),
    regarding: optional(objectReference, 'What the event is about.', { default: {}, byValue: true }),
    related: optional(objectReference, 'A second object the event is about.'),
    note: optional(string(), 'What happened, for people.'),
    type: optional(string(), 'Normal or Warning; others may come.'),
    deprecatedSource: optional(eventSource, 'Who reported it, in the older way.', { default: {}, byValue: true }),
    deprecatedFirstTimestamp: optional(time, 'When it first happened, in the older way.', { byValue: true }),
    deprecatedLastTimestamp: optional(time, 'When it last happened, in the older way.', { byValue: true }),
    deprecatedCount: optional(int32(), 'How often it happened, in the older way.'),
  },
)

/** `events.k8s.io/v1` events. */
export const eventsV1 = convertedVersion<Event, EventV1>(eventV1Schema, {
  plural: 'events',
  shortNames: ['ev'],
  toHub: ({ apiVersion, kind, metadata, regarding, note, ...event }) => ({
    apiVersion,
    kind,
    metadata,
    involvedObject: regarding ?? {},
    reason: event.reason,
    message: note,
    source: event.deprecatedSource,
    firstTimestamp: event.deprecatedFirstTimestamp,
    lastTimestamp: event.deprecatedLastTimestamp,
    count: event.deprecatedCount,
    type: event.type,
    eventTime: event.eventTime,
    series: event.series,
    action: event.action,
    related: event.related,
    reportingComponent: event.reportingController,
    reportingInstance: event.reportingInstance,
  }),
  fromHub: ({ apiVersion, kind, metadata, involvedObject, message, ...event }) => ({
    apiVersion,
    kind,
    metadata,
    // One that was written in the older way has none.
    eventTime: event.eventTime as string,
    series: event.series as EventV1['series'],
    reportingController: event.reportingComponent || undefined,
    reportingInstance: event.reportingInstance || undefined,
    action: event.action,
    reason: event.reason,
    regarding: involvedObject,
    related: event.related,
    note: message,
    type: event.type,
    deprecatedSource: event.source,
    deprecatedFirstTimestamp: event.firstTimestamp,
    deprecatedLastTimestamp: event.lastTimestamp,
    deprecatedCount: event.count,
  }),
  hubFields: {
    reason: 'reason',
    'regarding.kind': 'involvedObject.kind',
    'regarding.namespace': 'involvedObject.namespace',
    'regarding.name': 'involvedObject.name',
    'regarding.uid': 'involvedObject.uid',
    'regarding.apiVersion': 'involvedObject.apiVersion',
    'regarding.resourceVersion': 'involvedObject.resourceVersion',
    'regarding.fieldPath': 'involvedObject.fieldPath',
    reportingController: 'reportingComponent',
    source: 'source',
    type: 'type',
  },
})
