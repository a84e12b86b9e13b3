// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Account} from "@openzeppelin/contracts/account/Account.sol";
import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";
import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {AbstractSigner} from "@openzeppelin/contracts/utils/cryptography/signers/AbstractSigner.sol";
import {ERC7739} from "@openzeppelin/contracts/utils/cryptography/signers/draft-ERC7739.sol";
import {SignerEIP7702} from "@openzeppelin/contracts/utils/cryptography/signers/SignerEIP7702.sol";

/// The code that a wallet of the local chains gets with its first sponsored send (EIP-7702). The wallet's own key signs
/// its user operations. It signs messages in the wrapped form of ERC-7739: `isValidSignature` rejects a bare ECDSA
/// signature.
contract DelegateAccount is Account, ERC7821, ERC7739, SignerEIP7702 {
    constructor() EIP712("Bursar Sandbox Account", "1") {}

    /// Returns the address of the EntryPoint, version 0.7.
    function entryPoint() public pure override returns (IEntryPoint) {
        return IEntryPoint(0x0000000071727De22E5E9d8BAf0edAc6f37da032);
    }

    function _erc7821AuthorizedExecutor(
        address caller,
        bytes32 mode,
        bytes calldata executionData
    ) internal view override returns (bool) {
        return caller == address(entryPoint()) || super._erc7821AuthorizedExecutor(caller, mode, executionData);
    }

    function _rawSignatureValidation(
        bytes32 hash,
        bytes calldata signature
    ) internal view override(AbstractSigner, SignerEIP7702) returns (bool) {
        return SignerEIP7702._rawSignatureValidation(hash, signature);
    }
}
