import { humanDuration, type KubernetesObject, type ObjectMeta, parseTime } from '@coracle/api'
import { lastAppliedAnnotation } from '../manifests/apply-object.ts'
import type { Description } from './description.ts'

/** Longest annotation shown on the line of its key (kubectl's rule). */
const annotationInlineMax = 140

/** Longest line shown below the key. */
const annotationLineMax = annotationInlineMax - 2

/** A line of an annotation, cut where it is too long. */
function shorten(line: string): string {
  return line.length > annotationLineMax ? `${line.slice(0, annotationLineMax)}...` : line
}

/** What most kinds begin with: name, namespace where there is one, labels and annotations. */
export function describeIdentity(text: Description, { name, namespace, labels, annotations }: ObjectMeta): void {
  text.field(0, 'Name', name ?? '')
  if (namespace !== undefined) text.field(0, 'Namespace', namespace)
  describeLabels(text, 0, 'Labels', labels)
  describeAnnotations(text, 0, annotations)
}

export function describeLabels(
  text: Description,
  level: number,
  label: string,
  labels: Readonly<Record<string, string>> | undefined,
): void {
  text.lines(level, label, labelLines(labels))
}

/** Labels, one a line, in order of their keys. */
export const labelLines = (labels: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`)

/** All annotations but the one that holds the whole object once more. */
export function describeAnnotations(
  text: Description,
  level: number,
  annotations: Readonly<Record<string, string>> | undefined,
): void {
  text.lines(level, 'Annotations', annotationLines(annotations))
}

/** The lines of annotations, in order of their keys; of a long value, or one of several lines, below its key. */
export function annotationLines(annotations: Readonly<Record<string, string>> = {}): readonly string[] {
  const keys = Object.keys(annotations)
    .filter((key) => key !== lastAppliedAnnotation)
    .sort()
  return keys.flatMap((key) => {
    const value = (annotations[key] ?? '').replace(/\n$/, '')
    const isShort = key.length + value.length + 2 <= annotationInlineMax && !value.includes('\n')
    return isShort ? [`${key}: ${value}`] : [`${key}:`, ...value.split('\n').map((line) => `  ${shorten(line)}`)]
  })
}

/** `ReplicationController/frontend`; undefined where nothing controls it. */
export function controllerText({ metadata }: KubernetesObject): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner === undefined ? undefined : `${owner.kind}/${owner.name}`
}

/** The phase of an object; of one that is being deleted, for how long. */
export function lifecycleText({ deletionTimestamp }: ObjectMeta, phase: string, nowMs: number): string {
  if (deletionTimestamp === undefined) return phase
  return `Terminating (lasts ${humanDuration(nowMs - parseTime(deletionTimestamp))})`
}
