import { deepEqual } from '../../../equality.ts'
import { type FieldError, invalidField, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { validateObjectMeta } from '../../../object-meta-validation.ts'
import { checkFormat } from '../../../string-formats.ts'
import { checkFinalizers } from '../../validation.ts'
import type { Event } from './event-schema.ts'

/** Characters that `reportingInstance`, `action` and `reason` may have. */
export const eventTextMax = 128
/** Characters that `message` may have. */
export const eventMessageMax = 1024

/**
 * Upstream's legacyValidateEvent: an event in the older way only has to be in the namespace of what it is about; one with
 * an eventTime must say who reports it, why, and what was done. The two versions call the reporter by different names.
 */
export function validateEvent(event: Event, requested: string): readonly FieldError[] {
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
  return [...(belongs ? [] : elsewhere), ...validateReport(event, requested)]
}

function validateReport(event: Event, requested: string): readonly FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event
  const at = (field: string): FieldPath => FieldPath.of(field)
  const reporter = requested === 'v1' ? 'reportingComponent' : 'reportingController'
  const present = (field: string, text: string): readonly FieldError[] =>
    text === '' ? [requiredField(at(field))] : []
  const short = (field: string, text: string, max: number): readonly FieldError[] =>
    Buffer.byteLength(text) > max ? [invalidField(at(field), '', `can have at most ${max} characters`)] : []
  return [
    ...present(reporter, reportingComponent),
    ...checkFormat('qualified-name', reportingComponent).map((problem) =>
      invalidField(at(reporter), reportingComponent, problem),
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

/** Through `v1` events are what they always were; any newer API is strict about them (ValidateEventCreate). */
const isStrict = (requested: string): boolean => requested !== 'v1'

const path = (field: string): FieldPath => FieldPath.of(field)

export function validateNewEvent(event: Event, requested: string): readonly FieldError[] {
  if (!isStrict(requested)) return []
  const { metadata, type = '', source } = event
  const unset = (field: string, value: unknown): readonly FieldError[] =>
    value === undefined ? [] : [invalidField(path(field), '', 'needs to be unset')]
  return [
    ...validateObjectMeta(metadata, { namespaced: true, nameFormat: 'dns1123-subdomain' }),
    ...checkFinalizers(metadata),
    ...validateSeries(event),
    ...(event.eventTime === undefined ? [requiredField(path('eventTime'))] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalidField(path('type'), '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', event.firstTimestamp),
    ...unset('lastTimestamp', event.lastTimestamp),
    ...unset('count', event.count || undefined),
    ...unset('source', source?.component || source?.host || undefined),
  ]
}

/** What happened stays what it was: only how often may change. */
const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const satisfies readonly (keyof Event)[]

/** A field as upstream's type in Go has it. Times and references that are missing are shown as null. */
function shownValue(event: Event, field: (typeof fixedFields)[number]): unknown {
  switch (field) {
    case 'involvedObject':
    case 'related':
      return event[field] && structValue('core.ObjectReference', event[field])
    case 'source':
      return structValue('core.EventSource', event.source ?? {})
    case 'count':
      return event.count ?? 0
    case 'firstTimestamp':
    case 'lastTimestamp':
    case 'eventTime':
      return event[field]
    default:
      return event[field] ?? ''
  }
}

export function validateEventUpdate(event: Event, old: Event, requested: string): readonly FieldError[] {
  if (!isStrict(requested)) return []
  return [
    ...checkFinalizers(event.metadata),
    ...(deepEqual(event.series, old.series) ? [] : validateSeries(event)),
    ...fixedFields.flatMap((field) => {
      if (deepEqual(event[field], old[field])) return []
      const name = field === 'reportingComponent' ? 'reportingController' : field
      return [invalidField(path(name), shownValue(event, field), 'field is immutable')]
    }),
  ]
}

function validateSeries({ series }: Event): readonly FieldError[] {
  if (series === undefined) return []
  return [
    ...((series.count ?? 0) < 2 ? [invalidField(path('series.count'), '', 'should be at least 2')] : []),
    ...(series.lastObservedTime === undefined ? [requiredField(path('series.lastObservedTime'))] : []),
  ]
}
