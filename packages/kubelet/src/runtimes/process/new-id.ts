import type { Random } from '@coracle/environment'

/** The id of a new sandbox or container, of the form that container runtimes give. */
export const newId = (random: Random): string => random.string(64, '0123456789abcdef')
