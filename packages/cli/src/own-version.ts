import manifest from '../package.json' with { type: 'json' }

/** The version of this program, such as `0.1.0`. */
export function ownVersion(): string {
  return manifest.version
}
