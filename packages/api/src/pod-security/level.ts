/** How much a pod may ask for, from everything to nearly nothing: https://kubernetes.io/docs/concepts/security/pod-security-standards. */
export const podSecurityLevels = ['privileged', 'baseline', 'restricted'] as const
export type PodSecurityLevel = (typeof podSecurityLevels)[number]

/** Of which minor version of Kubernetes a level is meant: what it forbids has changed. */
export type PodSecurityVersion = number | 'latest'

export interface LevelVersion {
  readonly level: PodSecurityLevel
  readonly version: PodSecurityVersion
}

/** `restricted:latest`, `baseline:v1.30`. */
export function levelText({ level, version }: LevelVersion): string {
  return `${level}:${version === 'latest' ? version : `v1.${version}`}`
}

/** Whether `level` forbids more than `other`. */
export function isStricter(level: PodSecurityLevel, other: PodSecurityLevel): boolean {
  return podSecurityLevels.indexOf(level) > podSecurityLevels.indexOf(other)
}

export function sameLevelVersion(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.version === b.version
}

/** Undefined where there is no such level. */
export function parseLevel(text: string): PodSecurityLevel | undefined {
  return podSecurityLevels.find((level) => level === text)
}

const versionPattern = /^v1\.(0|[1-9][0-9]*)$/

/** Undefined where the text is neither `latest` nor a version. */
export function parseVersion(text: string): PodSecurityVersion | undefined {
  if (text === 'latest') return text
  const [, digits] = versionPattern.exec(text) ?? []
  const minor = Number(digits)
  return Number.isSafeInteger(minor) ? minor : undefined
}
