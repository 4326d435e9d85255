import type { KubernetesObject } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Client } from './client.ts'
import { CoreEventRecorder } from './core-events.ts'
import { SeriesEventRecorder } from './series-events.ts'

export type EventType = 'Normal' | 'Warning'

export interface EventDetails {
  /** The part of the object, such as `spec.containers{web}`. */
  readonly fieldPath?: string
  readonly annotations?: Readonly<Record<string, string>>
  /** Who reports, where it is not the recorder's component: one that has taken on another's work. Only core/v1 has it. */
  readonly component?: string
  /** What was done or tried, in one CamelCase word; the reason by default. Only events.k8s.io/v1 has it. */
  readonly action?: string
  /** A second object it is about. Only events.k8s.io/v1 has it. */
  readonly related?: EventTarget
}

/** What an event is about: an object, or as much of one as is known. */
export type EventTarget = Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>

/** Tells users what a component does and meets. Recording never fails and never waits: events are worth less than work. */
export interface EventRecorder {
  /** `reason` is a short CamelCase word that programs may match, `message` a sentence for people. */
  event(about: EventTarget, type: EventType, reason: string, message: string, details?: EventDetails): void
  /** Resolves once all that was recorded is written or given up. */
  flush(): Promise<void>
  /** Drops what is not written yet and records nothing more. */
  stop(): void
}

/** The form in which events are written: the newer one, or the older one that every cluster has. */
export type EventApi = 'events.k8s.io/v1' | 'v1'

export interface EventSource {
  /** Who reports, such as `replicaset-controller`. */
  readonly component: string
  /** The node, where the component belongs to one. */
  readonly host?: string
  /** Which of several instances reports. Only events.k8s.io/v1 has it; the host, or the component, by default. */
  readonly instance?: string
  /** `v1` by default. */
  readonly api?: EventApi
}

/**
 * A recorder of events. In core/v1 it counts identical ones and combines similar ones as client-go does; in events.k8s.io/v1 what
 * happens again within six minutes is one Event with a series.
 */
export function createEventRecorder(client: Client, environment: Environment, source: EventSource): EventRecorder {
  return source.api === 'events.k8s.io/v1'
    ? new SeriesEventRecorder(client, environment, source)
    : new CoreEventRecorder(client, environment, source)
}
