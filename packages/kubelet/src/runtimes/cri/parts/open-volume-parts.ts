import { join } from 'node:path'
import type { CriRuntimeOptions } from '../runtime-options.ts'
import { RuntimeRoots } from './runtime-roots.ts'
import { VolumeParts } from './volume-parts.ts'

/** Parts of volumes for the runtime at an endpoint. */
export function openVolumeParts({ environment, endpoint, directory }: CriRuntimeOptions): VolumeParts {
  const { random, logger } = environment
  const roots = new RuntimeRoots(endpoint.replace(/^unix:\/\//, ''))
  return new VolumeParts({
    directory: join(directory, 'volume-parts'),
    runtimeRoots: () => roots.find(),
    random,
    logger,
  })
}
