import { type FieldError, invalidField, requiredField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema, objectMeta } from '../../meta.ts'
import { int32, microTime, object, optional, required, string, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { column, nameColumn, timeSince, wideColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'
import { objectReference } from './common.ts'

/** Characters that `reportingInstance`, `action` and `reason` may have. */
export const eventTextMax = 128
/** Characters that `message` may have. */
export const eventMessageMax = 1024

export interface EventSeries extends Infer<typeof eventSeries> {}
export const eventSeries = object(`${coreV1}.EventSeries`, 'The same event, happening again and again.', {
  count: optional(int32(), 'How often it happened up to lastObservedTime.'),
  lastObservedTime: optional(microTime, 'When it last happened.'),
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
    metadata: required(objectMeta, 'What every stored object carries: name, labels, owners and the like.'),
    involvedObject: required(objectReference, 'What the event is about.', { default: {} }),
    reason: optional(string(), 'Why it happened, in one CamelCase word that programs can compare.'),
    message: optional(string(), 'What happened, for people.'),
    source: optional(eventSource, 'Who reported it, in the older way.', { default: {} }),
    firstTimestamp: optional(time, 'When it first happened.'),
    lastTimestamp: optional(time, 'When it last happened.'),
    count: optional(int32(), 'How often it happened.'),
    type: optional(string(), 'Normal or Warning; others may come.'),
    eventTime: optional(
      microTime,
      'When it first happened, in the newer way. An event with it must say who reports it.',
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

/**
 * Upstream's legacyValidateEvent: an event in the older way only has to be in the namespace of what it is about; one with
 * an eventTime must say who reports it, why, and what was done.
 */
function validate(event: Event): readonly FieldError[] {
  const { involvedObject, metadata } = event
  const namespace = metadata.namespace ?? ''
  const involvedNamespace = involvedObject.namespace ?? ''
  const elsewhere = [
    invalidField(FieldPath.of('involvedObject', 'namespace'), involvedNamespace, 'does not match event.namespace'),
  ]
  if (event.eventTime === undefined) {
    const matches = involvedNamespace === '' ? ['', 'default'].includes(namespace) : involvedNamespace === namespace
    return matches ? [] : elsewhere
  }
  const belongs = involvedNamespace !== '' || namespace === 'default' || namespace === 'kube-system'
  return [...(belongs ? [] : elsewhere), ...validateReport(event)]
}

function validateReport(event: Event): readonly FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event
  const at = (field: string): FieldPath => FieldPath.of(field)
  const present = (field: string, text: string): readonly FieldError[] =>
    text === '' ? [requiredField(at(field))] : []
  const short = (field: string, text: string, max: number): readonly FieldError[] =>
    Buffer.byteLength(text) > max ? [invalidField(at(field), '', `can have at most ${max} characters`)] : []
  return [
    ...present('reportingComponent', reportingComponent),
    ...checkFormat('qualified-name', reportingComponent).map((problem) =>
      invalidField(at('reportingComponent'), reportingComponent, problem),
    ),
    ...present('reportingInstance', reportingInstance),
    ...short('reportingInstance', reportingInstance, eventTextMax),
    ...present('action', action),
    ...short('action', action, eventTextMax),
    ...present('reason', reason),
    ...short('reason', reason, eventTextMax),
    ...short('message', message, eventMessageMax),
  ]
}

function firstSeen(event: Event, nowMs: number): string {
  return timeSince(event.firstTimestamp ?? event.eventTime, nowMs)
}

function lastSeen(event: Event, nowMs: number): string {
  if (event.series !== undefined) return timeSince(event.series.lastObservedTime, nowMs)
  return event.lastTimestamp === undefined ? firstSeen(event, nowMs) : timeSince(event.lastTimestamp, nowMs)
}

function objectText({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? '').toLowerCase()
  return involvedObject.name ? `${kind}/${involvedObject.name}` : kind
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || ''
  const instance = source?.host || reportingInstance || ''
  return instance === '' ? component : `${component}, ${instance}`
}

/** How often it happened. */
const count = ({ series, count: counted }: Event): number => (series === undefined ? counted || 1 : (series.count ?? 0))

/** `v1` events. */
export const events = kind<Event>(eventSchema, {
  plural: 'events',
  shortNames: ['ev'],
  // Reporters build names from names of nodes and times; upstream never checked them.
  nameFormat: 'path-segment',
  // The name comes last, and only if asked (printers/internalversion printEvent).
  columns: [
    column('Last Seen', lastSeen, 'Time since it last happened.'),
    column('Type', ({ type }) => type ?? '', { field: 'type' }),
    column('Reason', ({ reason }) => reason ?? '', { field: 'reason' }),
    column('Object', objectText, 'What it is about.'),
    wideColumn('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? '', {
      field: 'involvedObject.fieldPath',
    }),
    wideColumn('Source', sourceText, 'Who reported it.'),
    column('Message', ({ message }) => (message ?? '').trim(), { field: 'message' }),
    wideColumn('First Seen', firstSeen, 'Time since it first happened.'),
    wideColumn('Count', count, 'How often it happened.'),
    { ...nameColumn, priority: 1 },
  ],
  selectableFields: {
    'involvedObject.kind': ({ involvedObject }) => involvedObject.kind ?? '',
    'involvedObject.namespace': ({ involvedObject }) => involvedObject.namespace ?? '',
    'involvedObject.name': ({ involvedObject }) => involvedObject.name ?? '',
    'involvedObject.uid': ({ involvedObject }) => involvedObject.uid ?? '',
    'involvedObject.apiVersion': ({ involvedObject }) => involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': ({ involvedObject }) => involvedObject.fieldPath ?? '',
    reason: ({ reason }) => reason ?? '',
    reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
    source: ({ source, reportingComponent }) => source?.component || reportingComponent || '',
    type: ({ type }) => type ?? '',
  },
  rules: { createsOnUpdate: true, dependents: 'ignored' },
  finalizers: 'any',
  validate,
})
