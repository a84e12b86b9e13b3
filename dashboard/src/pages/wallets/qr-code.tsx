import { useQuery } from '@tanstack/react-query'

interface QrCodeProps {
  readonly text: string
  /** What it holds, for readers of the screen. */
  readonly label: string
}

/** ISO/IEC 18004, section 9.1: four modules of nothing around it. */
const QUIET_MODULES = 4

/** A QR code, always dark on white: not every phone reads the other way round. */
export function QrCode({ text, label }: QrCodeProps) {
  const { data: modules } = useQuery({
    queryKey: ['qr', text],
    queryFn: async () => (await import('qr')).encodeQR(text, 'raw', { border: QUIET_MODULES }),
    staleTime: Infinity,
  })
  const side = modules?.length ?? 1
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      className="aspect-square w-full rounded-lg fill-black"
    >
      <rect width={side} height={side} className="fill-white" />
      {modules !== undefined && <path d={drawModules(modules)} />}
    </svg>
  )
}

function drawModules(modules: readonly (readonly boolean[])[]): string {
  return modules.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
}
