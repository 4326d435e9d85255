/** A duration of whole seconds as Go prints it: `10s`, `1m20s`, `5m0s`, `1h0m0s`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (minutes === 0) return `${seconds}s`
  if (hours === 0) return `${minutes}m${seconds % 60}s`
  return `${hours}h${minutes % 60}m${seconds % 60}s`
}
