/** Durations as tables show them (apimachinery's util/duration): `45s`, `3m20s`, `5h`, `2d3h`, `400d`, `3y12d`. */

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** A duration in two or three figures. Up to a second in the past is `0s`, further back `<invalid>`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / second)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(ms / minute)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(ms / hour)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return pair(days, 'd', hours % 24, 'h')
  if (days < 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`
}

const pair = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
