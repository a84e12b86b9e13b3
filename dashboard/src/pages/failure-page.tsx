import { Button } from '../components/button.tsx'

/** When the application itself fails. It leans on nothing that could fail too. */
export function FailurePage() {
  return (
    <main className="mx-auto grid max-w-xl gap-4 p-6">
      <title>Something broke · Bursar</title>
      <h1 className="text-2xl font-bold">Something broke on this page</h1>
      <p className="text-muted">
        Nothing was sent. Load the page again; if that does not help, tell whoever runs Bursar.
      </p>
      <p>
        <Button look="primary" onClick={() => window.location.reload()}>
          Load again
        </Button>
      </p>
    </main>
  )
}
