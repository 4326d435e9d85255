import type { Container, Probe } from '@coracle/api'

/** The probes that decide whether a container is ready. */
export const probesOfReadiness = ({ startupProbe, readinessProbe }: Container): readonly Probe[] =>
  [startupProbe, readinessProbe].filter((probe) => probe !== undefined)
