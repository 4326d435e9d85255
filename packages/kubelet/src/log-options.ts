import type { LogOptions } from '@coracle/api'

export type { LogOptions }

/** What a runtime needs to know to read one container's log; the container is already chosen. */
export type LogReadOptions = Omit<LogOptions, 'container' | 'previous' | 'sinceSeconds'>
