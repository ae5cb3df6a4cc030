# Installs the frisson command from a .zip made by .ci/archive.
#   ./install.ps1 -Archive frisson-….zip [-Prefix C:\Tools\frisson]
# The checksum is read from ARCHIVE.sha256; without it nothing is installed.
param([Parameter(Mandatory)][string]$Archive, [string]$Prefix = "$env:LOCALAPPDATA\frisson")
$ErrorActionPreference = "Stop"
$wanted = (Get-Content "$Archive.sha256").Split(" ")[0]
$found = (Get-FileHash $Archive -Algorithm SHA256).Hash.ToLower()
if ($wanted -ne $found) { throw "the checksum is wrong: nothing is installed" }
$work = Join-Path ([IO.Path]::GetTempPath()) ([guid]::NewGuid())
Expand-Archive $Archive $work
New-Item -ItemType Directory -Force $Prefix | Out-Null
Copy-Item -Recurse -Force (Join-Path (Get-ChildItem $work | Select-Object -First 1).FullName "*") $Prefix
Remove-Item -Recurse $work
& (Join-Path $Prefix "frisson.exe") --version
Write-Host "installed in $Prefix; add it to PATH"
