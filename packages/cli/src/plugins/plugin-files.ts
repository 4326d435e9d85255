import { delimiter } from 'node:path'
import type { Host } from '../host.ts'

/** What names of plugins begin with: our own, and those written for kubectl. */
export const prefixes = ['coracle-', 'kubectl-'] as const

/** The directories in which programs are looked for, in that order. */
export const directoriesOf = (variables: Host['variables']): readonly string[] =>
  (variables.PATH ?? '').split(delimiter).filter((each) => each !== '')
